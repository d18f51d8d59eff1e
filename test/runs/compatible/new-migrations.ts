import { irreversibleMigrations, readMigrations } from '../../../lib/checks/migrations';

/** A migration that a change adds to its base. */
export interface NewMigration {
  /** The file's name without its extension. */
  readonly name: string;
  /** Why the base's functions cannot run on the new schema. @default - they can */
  readonly irreversible?: string;
}

/**
 * The migrations that a change adds, in order.
 *
 * @param base project folder of the base; `change`: of the change
 * @throws Error for an edited or removed file of the base, which may already be applied
 */
export function newMigrations(base: string, change: string): readonly NewMigration[] {
  const [before, after] = [readMigrations(base), readMigrations(change)];
  for (const [name, text] of before)
    if (after.get(name) !== text)
      throw new Error(
        `Migration ${name} was edited or removed. It may be applied: restore the file, and add a new one.`,
      );
  const reasons = irreversibleMigrations(change);
  return [...after.keys()]
    .filter((name) => !before.has(name))
    .map((name) => ({ name, ...(reasons[name] && { irreversible: reasons[name] }) }));
}
