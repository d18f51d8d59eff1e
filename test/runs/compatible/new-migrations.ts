import { readMigrations } from '../../../lib/checks/migrations';

/**
 * The names of the migrations that a change adds, in order.
 *
 * @param base project folder of the base; `change`: of the change
 * @throws Error for an edited or removed file of the base, which may already be applied
 */
export function newMigrations(base: string, change: string): readonly string[] {
  const [before, after] = [readMigrations(base), readMigrations(change)];
  for (const [name, text] of before)
    if (after.get(name) !== text)
      throw new Error(
        `Migration ${name} was edited or removed. It may be applied: restore the file, and add a new one.`,
      );
  return [...after.keys()].filter((name) => !before.has(name));
}
