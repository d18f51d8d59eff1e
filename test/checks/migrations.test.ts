import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { irreversibleMigrations, newMigrations } from '../../lib/checks/migrations';
import { first as row } from '../support/rows';
import type * as stacks from '../support/stacks';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

function project(name: string, files: Readonly<Record<string, string>>): string {
  const directory = join(folder(), name);
  const migrations = join(directory, 'lambda/database/migrations');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(migrations, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(migrations, file), text);
  return directory;
}

const first = { '0001-a.sql': 'create table a ();', 'index.ts': 'the list' };
const added = (files: Readonly<Record<string, string>>) =>
  newMigrations(project('base', first), project('change', files));

it('lists the added migrations in order, with the reason in the header', () => {
  const drop = 'drop table a;\n';
  expect(added(first)).toEqual([]);
  expect(
    added({
      ...first,
      '0003-c.sql': `-- Why.\n-- irreversible: it held secrets\n${drop}`,
      '0002-b.sql': drop,
    }),
  ).toEqual([{ name: '0002-b' }, { name: '0003-c', irreversible: 'it held secrets' }]);
  expect(irreversibleMigrations(join(folder(), 'change'))).toEqual({ '0003-c': 'it held secrets' });
});

it.each([
  '-- irreversible:\n',
  '-- irreversible\ndrop table a;',
  '-- Irreversible: \n',
  '-- irreversible is what this migration is not\n',
])('refuses a header without a reason: %j', (text) => {
  expect(() => added({ ...first, '0002-b.sql': text })).toThrow(
    'Migration 0002-b is marked irreversible without a reason.',
  );
});

it.each([
  ['edited', { '0001-a.sql': 'create table b ();' }],
  ['removed', { '0002-b.sql': 'create table b ();' }],
])('refuses a migration of the base that was %s', (verb, files) => {
  expect(() => added(files as Record<string, string>)).toThrow(`Migration 0001-a was ${verb}.`);
});

it('are listed in the template', () => {
  jest.doMock('../../lib/checks/migrations', () => ({
    irreversibleMigrations: () => ({ '9999-last': 'it held secrets' }),
  }));
  const { stackOf } = require('../support/stacks') as typeof stacks;
  // A row that no other test uses: templates are shared.
  const { Metadata } = stackOf({ ...row, purpose: 'migrations' }).only('Custom::SchemaMigration');
  expect(Metadata.IrreversibleMigrations).toEqual({ '9999-last': 'it held secrets' });
});
