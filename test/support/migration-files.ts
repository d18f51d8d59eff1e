import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Migration } from '../../lambda/database/migrations';

/** The migrations from their files: only bundles and Jest import SQL. */
export function readMigrations(): readonly Migration[] {
  const directory = resolve(__dirname, '../../lambda/database/migrations');
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: basename(file, '.sql'), text: readFileSync(join(directory, file), 'utf8') }));
}
