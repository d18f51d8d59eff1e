import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../lib/environment/schema';
import { projectRoot } from '../architecture/sources';
import { copyProject } from '../support/prepared-state';
import * as own from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

/** The table of the project in a folder, as a process reads it. */
function readTable(directory: string): readonly Environment[] {
  const script = "JSON.stringify(require('./lib/environments').environments)";
  const args = ['--require', 'tsx/cjs', '--print', script];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: directory, encoding: 'utf8' }));
}

// `npm run synth` synthesizes its stacks: .ci/run.
it('the table is valid', () => {
  expect(readTable(projectRoot)).not.toEqual([]);
});

it('no test reads the table, neither in this process nor in one that runs in a copy of the project', () => {
  expect(jest.requireActual('../../lib/environments')).toBe(own);
  copyProject(folder());
  expect(readTable(folder())).toEqual(own.environments);
  // Otherwise the two would be the same by chance.
  const text = readFileSync(join(projectRoot, 'lib/environments.ts'), 'utf8');
  for (const { tokenIssuer } of own.environments) expect(text).not.toContain(tokenIssuer);
});
