import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, stacksOf } from '../../lib/environment/schema';
import { projectRoot } from '../architecture/sources';
import { copyProject } from '../support/project-copy';
import { synthesizeEveryStack } from '../support/stacks';
import * as own from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

/** The table of the project in a folder, as a process reads it. */
function readTable(directory: string): readonly Environment[] {
  const script = "JSON.stringify(require('./lib/environments').environments)";
  const args = ['--require', 'tsx/cjs', '--print', script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: directory, encoding: 'utf8' }));
}

it('the table is valid, and each of its stacks synthesizes, with the outputs of any', () => {
  const table = readTable(projectRoot);
  const stacks = Object.values(synthesizeEveryStack(table));
  expect(stacks.map(({ name }) => name)).toEqual(table.flatMap(stacksOf).map(({ stackId }) => stackId));
  for (const { name, serves, json } of stacks)
    expect([name, 'WebhookOriginAddress' in json.Outputs]).toEqual([name, serves]);
});

it('no test reads the table, neither in this process nor in one that runs in a copy of the project', () => {
  expect(jest.requireActual('../../lib/environments')).toBe(own);
  copyProject(folder());
  expect(readTable(folder())).toEqual(own.environments);
  // Otherwise the two would be the same by chance.
  const text = readFileSync(join(projectRoot, 'lib/environments.ts'), 'utf8');
  for (const { tokenIssuer } of own.environments) expect(text).not.toContain(tokenIssuer);
});
