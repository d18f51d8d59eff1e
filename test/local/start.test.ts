import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from '../../local/aws/lambda/instance';
import { removePostgres } from '../../local/postgres/postgres';
import { type LocalOptions, startLocal } from '../../local/start';
import { openState, type State } from '../../local/state/lock';
import { eventually } from '../support/eventually';
import { startInProcess } from '../support/own-environments';
import { copyNewCluster } from '../support/postgres';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const { name, stackId } = first;
const folder = temporaryFolder();
let state: State;
let database: string;
let said: string[];

beforeEach(async () => {
  said = [];
  await prepareAssembly(folder());
  state = openState(folder());
  database = state.environment(name).databaseDirectory;
  await copyNewCluster(database);
});
afterEach(async () => {
  state.close();
  await removePostgres(database);
});

/** Starts the first environment. */
const start = (options: Partial<LocalOptions> = {}) =>
  startLocal({
    ...{ assembly: state.assemblyDirectory, state, environments: [name], ports: 'any' },
    log: { step: (line) => said.push(line), problem: (line) => said.push(line) },
    runtime: startInProcess,
    ...options,
  });

it('fails with the first failure, not with what it stops', async () => {
  const file = join(state.assemblyDirectory, `${stackId}.template.json`);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"StringEquals":', '"StringSounds":'));
  const problem = 'the condition operator StringSounds is not supported on this machine.';
  await expect(start()).rejects.toThrow(problem);
  expect(said).toEqual([]);
});

it('reports what it waits for, and ends at once when it is aborted', async () => {
  const interruption = new AbortController();
  // A killed process waits no longer.
  const failed = start({
    runtime: startProcess,
    signal: interruption.signal,
    decide: ({ action }) =>
      action === 'secretsmanager:GetSecretValue' ? 'AccessDeniedException: no grant' : undefined,
  }).catch(String);
  const waits = new RegExp(`${name} waits, SchemaMigration.*: Database not ready: .*AccessDenied`);
  await eventually(() => waits.test(said.join('\n')), 60);
  const asked = performance.now();
  interruption.abort(new Error('Ctrl-C'));
  expect(await failed).toBe('Error: Ctrl-C');
  // Of eight minutes.
  expect(performance.now() - asked).toBeLessThan(20_000);
});
