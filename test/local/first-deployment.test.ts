import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { databaseName } from '../../lib/database/names';
import { startPostgres } from '../../local/postgres/postgres';
import { killServer } from '../../local/postgres/process';
import { type RunningEnvironments, startEnvironments } from '../../local/start';
import { stateFolder } from '../../local/state/state';
import { keepStacksIn } from '../support/kept-state';
import { databaseDirectory } from '../support/local-database';
import { recordAccess } from '../support/recorded-access';
import { oneOfEachAccess as environments } from '../support/rows';

/** Seconds for which the database refuses connections, from when the migration is about to make its first. */
const away = 2;

const state = stateFolder(mkdtempSync(join(tmpdir(), 'wallet-test-')));
beforeAll(() => keepStacksIn(state.directory), 60_000);
afterAll(() => rmSync(state.directory, { recursive: true, force: true }));

/** @param onMigration called when the migration of an environment reads its first secret */
async function start(onMigration: (name: string) => void): Promise<RunningEnvironments> {
  const { access } = recordAccess();
  const begun = new Set<string>();
  return startEnvironments({
    state,
    environments,
    ports: anyPort,
    dashboardPorts: anyPort,
    fresh: false,
    access: {
      ...access,
      authorize(call) {
        const name = environments.find(({ region }) => region === call.resource.split(':')[3])?.name ?? '';
        if (!begun.has(name) && call.action === 'secretsmanager:GetSecretValue') {
          begun.add(name);
          onMigration(name);
        }
        return access.authorize(call);
      },
    },
    signal: new AbortController().signal,
    onStep: () => undefined,
    onProblem: () => undefined,
  });
}
const anyPort = Object.fromEntries(environments.map(({ name }) => [name, 0]));

/** Of the PostgreSQL that runs, or was killed last; undefined while it writes its file. */
function postmaster(name: string): number | undefined {
  const file = join(databaseDirectory(state.directory, name), 'cluster', 'data', 'postmaster.pid');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return /^\d+\n/.test(text) ? Number.parseInt(text, 10) : undefined;
}

/** Kills PostgreSQL again and again: the one that is started in its place accepts nothing before it is killed, too. */
async function keepAway(name: string): Promise<void> {
  const end = Date.now() + away * 1_000;
  while (Date.now() < end) {
    const pid = postmaster(name);
    if (pid) killServer(pid);
    await sleep(50);
  }
}

const log = (name: string) =>
  readFileSync(join(state.directory, 'logs', name, 'SchemaMigrationMigrateSchema.log'), 'utf8');

it('succeeds with a database that refuses connections at first, and says that it waited', async () => {
  const kept: Promise<void>[] = [];
  const running = await start((name) => kept.push(keepAway(name)));
  await Promise.all(kept);
  await running.stop();
  for (const { name } of environments) {
    expect(log(name)).toMatch(/"logCode":"DATABASE_NOT_READY"/);
    expect(log(name)).toMatch(/"logCode":"SCHEMA_MIGRATION_COMPLETED"/);
  }
}, 90_000);

it('fails at once with a broken migration, and says which and why', async () => {
  const [environment] = environments as [(typeof environments)[number]];
  const { name, stackId } = environment;
  const folder = state.environment(environment);
  const postgres = await startPostgres({ directory: folder.databaseDirectory });
  const { host, port, superuser: user, password } = postgres;
  const client = new Client({ host, port, user, password, database: databaseName });
  await client.connect();
  const { rows } = await client.query(
    'delete from schema_migrations where name = (select max(name) from schema_migrations) returning name',
  );
  await client.end();
  await postgres.stop();
  rmSync(folder.customResourcesFile);

  const began = Date.now();
  const failure = await start(() => undefined).catch((error: Error) => error);
  const refusal = `Migration ${rows[0]?.name} failed and was rolled back: `;
  expect(String(failure)).toMatch(new RegExp(`${stackId}.*${refusal}.*SQLSTATE 42`, 's'));
  expect(Date.now() - began).toBeLessThan(30_000);
  expect(log(name)).toMatch(/"logCode":"SCHEMA_MIGRATION_FAILED"/);
}, 60_000);
