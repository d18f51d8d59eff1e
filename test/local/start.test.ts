import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from '../../local/aws/lambda/instance';
import { clusterIn } from '../../local/postgres/cluster';
import { removePostgres } from '../../local/postgres/postgres';
import { type LocalOptions, startLocal } from '../../local/start';
import { openState, type State } from '../../local/state/lock';
import { eventually } from '../support/eventually';
import { startInProcess } from '../support/in-process';
import { sharedInRun } from '../support/once-per-run';
import { copyNewCluster } from '../support/postgres';
import { copyAssembly } from '../support/prepared-state';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const { name, stackId } = first;
let state: State;
let database: string;
let said: string[];
afterEach(async () => {
  state.close();
  // Fails while it runs.
  await removePostgres(database);
});
const folder = temporaryFolder();

beforeEach(async () => {
  said = [];
  state = openState(folder());
  database = state.environment(name).databaseDirectory;
  await copyNewCluster(state.emptyClusterDirectory);
});

const start = async (options: Partial<LocalOptions> = {}) =>
  startLocal({
    assembly: (await sharedInRun('assembly')).directory,
    state,
    expected: () => [name],
    environments: [name],
    ports: 'any',
    log: { step: (line) => said.push(line), problem: (line) => said.push(line) },
    runtime: startInProcess,
    ...options,
  });

/** Starts the first environment of an assembly in which a text is replaced. */
async function startChanged(text: string, replacement: string) {
  const assembly = state.assemblyDirectory;
  await copyAssembly(assembly);
  const file = join(assembly, `${stackId}.template.json`);
  writeFileSync(file, readFileSync(file, 'utf8').replace(text, replacement));
  return start({ assembly });
}

it('a restored database has a folder of its own, also where the state is new', async () => {
  const restored = await startChanged('"DatabaseName":', '"SnapshotIdentifier": "copy:1", "DatabaseName":');
  const isServed = (directory: string) => existsSync(join(clusterIn(directory).data, 'postmaster.pid'));
  expect([database, `${database}-copy-1`].map(isServed)).toEqual([false, true]);
  await restored.stop();
  await removePostgres(`${database}-copy-1`);
});

// Each with more open than the last. What stays open fails the file: test/jest/one-realm.js.
it.each([
  ['"StringEquals":', '"StringSounds":', 'the condition operator StringSounds'],
  ['"MOCK"', '"HTTP"', 'an integration of type HTTP'],
  ['"ReportBatchItemFailures"', '"None"', 'FunctionResponseTypes None'],
])(
  'with %s as %s, it fails with the first failure, not with what it stops',
  async (text, replacement, what) => {
    const message = `${what} is not supported on this machine.`;
    await expect(startChanged(text, replacement)).rejects.toThrow(message);
    expect(said).toEqual([]);
    expect(existsSync(state.outputsFile)).toBe(false);
  },
);

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
