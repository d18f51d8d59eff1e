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
