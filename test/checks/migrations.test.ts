import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newMigrations } from '../runs/compatible/new-migrations';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

type Files = Readonly<Record<string, string>>;

function project(files: Files): string {
  const directory = mkdtempSync(join(folder(), 'project-'));
  const migrations = join(directory, 'lambda/database/migrations');
  mkdirSync(migrations, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(migrations, file), text);
  return directory;
}

const first = { '0001-a.sql': 'create table a ();', 'index.ts': 'the list' };

it('lists the added migrations in order', () => {
  const change = project({ ...first, '0003-c.sql': 'drop table b;', '0002-b.sql': 'create table b ();' });
  expect(newMigrations(project(first), change)).toEqual(['0002-b', '0003-c']);
});

it.each<[problem: string, files: Files]>([
  ['0001-a was edited or removed', { '0001-a.sql': 'create table b ();' }],
  ['0001-a was edited or removed', { '0002-b.sql': 'create table b ();' }],
])('refuses: %s, %j', (problem, files) => {
  expect(() => newMigrations(project(first), project(files))).toThrow(`Migration ${problem}.`);
});
