import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
/** Servers and processes. */
const openHandles = () =>
  process
    .getActiveResourcesInfo()
    .filter((name) => /^(TCPServer|Process)/.test(name))
    .join();
const openAtFirst = openHandles();
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
const start = (options: Partial<LocalOptions> = {}, run = startLocal) =>
  run({
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

/** Files below `local` and their functions: steps of the start that may fail, each with more open than the last. */
it.each([
  ['assembly/manifest', 'readAssembly'],
  ['aws/sqs/queues', 'startQueues'],
  ['shared/logs', 'openLogs'],
  ['database-folder', 'provideDatabaseFolder'],
  ['aws/api-gateway/gateway', 'openApis'],
  ['aws/cloudformation/custom-resources', 'createCustomResource'],
  ['aws/lambda/event-sources', 'startEventSources'],
])('a failure of %s, %s, leaves nothing open', async (file, step) => {
  const actual = jest.requireActual(`../../local/${file}`);
  const isAsync = actual[step].constructor.name === 'AsyncFunction';
  const fail = () => {
    throw new Error('It failed.');
  };
  const failing = { ...actual, [step]: isAsync ? async () => fail() : fail };
  jest.resetModules();
  jest.doMock(`../../local/${file}`, () => failing);
  const { startLocal } = require('../../local/start') as typeof import('../../local/start');
  jest.dontMock(`../../local/${file}`);
  await expect(start({}, startLocal)).rejects.toThrow('It failed.');
  await eventually(() => openHandles() === openAtFirst);
  expect(existsSync(state.outputsFile)).toBe(false);
});

it('ends at once when it is aborted', async () => {
  const interruption = new AbortController();
  // A killed process waits no longer.
  const failed = start({
    runtime: startProcess,
    ending: interruption,
    decide: ({ action }) =>
      action === 'secretsmanager:GetSecretValue' ? 'AccessDeniedException: no grant' : undefined,
  }).catch(String);
  const log = join(state.environment(name).logsDirectory, 'SchemaMigrationMigrateSchema.log');
  await eventually(() => expect(readFileSync(log, 'utf8')).toMatch(/Database not ready.*AccessDenied/));
  const asked = performance.now();
  interruption.abort(new Error('Ctrl-C'));
  expect(await failed).toBe('Error: Ctrl-C');
  // It would have taken eight minutes.
  expect(performance.now() - asked).toBeLessThan(120_000);
});
