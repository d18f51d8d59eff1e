import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
});
afterEach(async () => {
  state.close();
  await removePostgres(database);
});

/** A start of the first environment that fails, with its error. */
const failing = (options: Partial<LocalOptions> = {}): Promise<Error> =>
  startLocal({
    ...{ assembly: state.assemblyDirectory, state, environments: [name], ports: 'any' },
    log: { step: (line) => said.push(line), problem: (line) => said.push(line) },
    runtime: startInProcess,
    ...options,
  }).then(
    () => new Error('It did not fail.'),
    (error) => error,
  );

it('ends with cause and remedy because of a damaged database', async () => {
  mkdirSync(join(database, 'cluster'), { recursive: true });
  const { message } = await failing();
  expect(message).toContain(`${name}: PostgreSQL did not start in ${database}`);
  expect(message).toContain('delete it with --fresh');
});

it('ends with cause and remedy because of a template of databases that was copied while it ran', async () => {
  mkdirSync(join(state.emptyClusterDirectory, 'cluster/data/postmaster.pid'), { recursive: true });
  const { message } = await failing();
  expect(message).toContain(`${state.emptyClusterDirectory} was copied while PostgreSQL was running.`);
  expect(message).toContain('copy the folder again');
});

describe('with a database', () => {
  beforeEach(() => copyNewCluster(database));

  it('ends with cause and remedy because of a folder in place of a log', async () => {
    const log = join(state.environment(name).logsDirectory, 'postgresql.log');
    mkdirSync(log, { recursive: true });
    const { message } = await failing();
    expect(message).toMatch(new RegExp(`^Cannot write the log ${log} .*start again\\.$`));
  });

  it('fails with the first failure, not with what it stops', async () => {
    const file = join(state.assemblyDirectory, `${stackId}.template.json`);
    const template = readFileSync(file, 'utf8');
    writeFileSync(file, template.replace('"StringEquals":', '"StringSounds":'));
    const { message } = await failing();
    expect(message).toContain('the condition operator StringSounds is not supported on this machine.');
    expect(said).toEqual([]);
  });

  it('reports what it waits for, and ends at once when it is aborted', async () => {
    const interruption = new AbortController();
    // A killed process waits no longer.
    const failed = failing({
      runtime: startProcess,
      signal: interruption.signal,
      decide: ({ action }) =>
        action === 'secretsmanager:GetSecretValue' ? 'AccessDeniedException: no grant' : undefined,
    });
    const waits = new RegExp(`${name} waits, SchemaMigration.*: Database not ready: .*AccessDenied`);
    await eventually(() => waits.test(said.join('\n')), 60);
    const asked = performance.now();
    interruption.abort(new Error('Ctrl-C'));
    expect((await failed).message).toBe('Ctrl-C');
    // Of eight minutes.
    expect(performance.now() - asked).toBeLessThan(20_000);
  });
});
