import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A migration that a change adds to its base. */
export interface NewMigration {
  /** The file's name without its extension. */
  readonly name: string;
  /** Why the base's functions cannot run on the new schema, from the header. @default - they can */
  readonly irreversible?: string;
}

/**
 * The migrations that a change adds, in order. If the previous release cannot run on the new schema, a line has the reason:
 * `-- irreversible: the column held secrets, and had to go at once`
 *
 * @param base project folder of the base; `change`: of the change
 * @throws Error for a header without a reason, and for an edited or removed file of the base, which may already be applied
 */
export function newMigrations(base: string, change: string): readonly NewMigration[] {
  const before = readMigrations(base);
  const after = readMigrations(change);
  for (const [name, text] of before)
    if (after.get(name) !== text)
      throw new Error(
        `Migration ${name} was edited or removed. It may be applied: restore the file, and add a new one.`,
      );
  return [...after]
    .filter(([name]) => !before.has(name))
    .map(([name, text]) => ({ name, ...headerOf(name, text) }));
}

/** Reasons why the previous release cannot run on the schema after a migration, by its name. */
export const irreversibleMigrations = (project: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...readMigrations(project)].flatMap(([name, text]) =>
      Object.values(headerOf(name, text)).map((reason) => [name, reason]),
    ),
  );

/** The names of all migrations, in order. */
export const migrationNames = (project: string): readonly string[] => [...readMigrations(project).keys()];

function headerOf(name: string, text: string): Pick<NewMigration, 'irreversible'> {
  const header = /^--[ \t]*irreversible\b(?:[ \t]*:(.*))?/im.exec(text);
  if (!header) return {};
  const reason = header[1]?.trim();
  if (reason) return { irreversible: reason };
  throw new Error(
    `Migration ${name} is marked irreversible without a reason. Write: -- irreversible: REASON`,
  );
}

function readMigrations(project: string): ReadonlyMap<string, string> {
  const folder = join(project, 'lambda/database/migrations');
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return new Map(
    files.map((file) => [file.slice(0, -'.sql'.length), readFileSync(join(folder, file), 'utf8')]),
  );
}
