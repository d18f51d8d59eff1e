import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The texts of a project's migrations, in order, by the file's name without its extension. */
export function readMigrations(project: string): ReadonlyMap<string, string> {
  const folder = join(project, 'lambda/database/migrations');
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return new Map(
    files.map((file) => [file.slice(0, -'.sql'.length), readFileSync(join(folder, file), 'utf8')]),
  );
}

/**
 * Why the previous release cannot run on the schema after a migration, by its name, from a line of it:
 * `-- irreversible: the column held secrets, and had to go at once`
 */
export function irreversibleMigrations(project: string): Readonly<Record<string, string>> {
  const found = [...readMigrations(project)].flatMap(([name, text]) => {
    const header = /^--[ \t]*irreversible\b(?:[ \t]*:(.*))?/im.exec(text);
    if (!header) return [];
    const reason = header[1]?.trim();
    if (reason) return [[name, reason]];
    throw new Error(
      `Migration ${name} is marked irreversible without a reason. Write: -- irreversible: REASON`,
    );
  });
  return Object.fromEntries(found);
}
