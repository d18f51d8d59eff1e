import schema from './0001-schema.sql';

/**
 * A forward-only step of the schema. Once applied anywhere, its text never changes: a later file amends it. Over the Data
 * API a file has 45 seconds; what takes longer, such as an index of a large table, is made by hand before, and by the file
 * only where it is missing. The release before has to run on the schema after it: lib/checks/migrations.ts.
 */
export interface Migration {
  /** The file's name without its ending; sorts in the order of application. */
  readonly name: string;
  readonly text: string;
}

export const migrations: readonly Migration[] = [{ name: '0001-schema', text: schema }];
