import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fail, ok } from '../../../domain/result';
import type { TransactionalDatabase } from '../../../lambda/database/database';
import { migrations } from '../../../lambda/database/migrations';
import { awaitDatabase, createHandler } from '../../../lambda/migrate-schema/handler';
import { type MigrationFailed, migrateSchema } from '../../../lambda/migrate-schema/migrate-schema';
import { recordLog } from '../../support/log';
import { startRegionDatabase } from '../../support/region-database';
import { useShared } from '../../support/use-shared';

it('the list contains every file of the folder, in order', () => {
  const files = readdirSync(join(__dirname, '../../../lambda/database/migrations')).sort();
  expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files.filter((file) => file.endsWith('.sql')));
});

const log = recordLog();
const unavailable = fail({ kind: 'database_unavailable', reason: 'connection_lost' } as const);
const region = useShared(() => startRegionDatabase('data-api'));
beforeAll(() => region.query`create role rds_iam`);
beforeEach(async () => {
  await region.query`drop schema public cascade`;
  await region.query`create schema public`;
});

const first = { name: '0001-first', text: 'create table first (id int primary key);' };
const second = { name: '0002-second', text: 'create table second (id int); insert into second values (1);' };
const broken = { name: '0002-broken', text: 'create table half (id int);\ninsert into nowhere values (1);' };
const migrate = (...files: (typeof first)[]) => migrateSchema(region.owner, files, []);
const failed = (pattern: string) =>
  fail({ kind: 'migration_failed', message: expect.stringMatching(pattern) });
const tables = async () => {
  const found = await region.query`
    select tablename::text from pg_tables where schemaname = 'public' order by 1`;
  return found.map(({ tablename }) => tablename);
};

it('applies each new file once, nothing to a newer database, and no edited file', async () => {
  expect(await migrate(first)).toEqual(ok(['0001-first']));
  expect(await migrate(first, second)).toEqual(ok(['0002-second']));
  expect(await migrate(first)).toEqual(ok([]));
  expect(await tables()).toEqual(['first', 'schema_migrations', 'second']);
  const edited = { ...first, text: `${first.text} ` };
  expect(await migrate(edited)).toEqual(failed('Migration 0001-first was applied before'));
});

it('a file is the same with other line ends, whichever a deployment recorded', async () => {
  const files = ['\n', '\r\n'].map((end) => ({ ...first, text: `create table${end}first (id int);${end}` }));
  for (const file of files) await migrate(file);
  for (const { text } of files) {
    const recorded = createHash('sha256').update(text).digest('hex');
    await region.query`update schema_migrations set checksum = ${recorded}`;
    for (const file of files) expect(await migrate(file)).toEqual(ok([]));
  }
});

it('rolls back only the failing file, and reports its name and the reason', async () => {
  const reason = '0002-broken failed and was rolled back: .*nowhere.* \\(SQLSTATE 42P01\\)';
  expect(await migrate(first, broken)).toEqual(failed(`Migration ${reason}`));
  expect(await tables()).toEqual(['first', 'schema_migrations']);
  const mended = { ...broken, text: 'create table half (id int);' };
  expect(await migrate(first, mended)).toEqual(ok(['0002-broken']));
});

it('applies nothing when the roles could not be created', async () => {
  const failures = [unavailable];
  const transaction: TransactionalDatabase['transaction'] = async (work) =>
    failures.pop() ?? region.owner.transaction(work);
  expect(await migrateSchema({ ...region.owner, transaction }, [first], [])).toEqual(unavailable);
  expect(await tables()).toEqual([]);
});

it('applies a file once when two migrations run at the same time', async () => {
  const outcomes = await Promise.all([migrate(first, second), migrate(first, second)]);
  const applied = outcomes.flatMap<unknown>((outcome) => (outcome.ok ? outcome.value : [outcome.error]));
  expect(applied.sort()).toEqual(['0001-first', '0002-second']);
});

it('switches a role between tokens and passwords, with the timeouts of each', async () => {
  const switchTo = async (role: { readonly password?: string }) => {
    expect(await migrateSchema(region.owner, [], [{ name: 'reader', ...role }])).toEqual(ok([]));
    return region.query`
      select pg_has_role('reader', 'rds_iam', 'member') as iam, array_to_string(rolconfig, ' ') as settings
      from pg_roles where rolname = 'reader'`;
  };
  const timeouts = 'statement_timeout=7s idle_in_transaction_session_timeout=10s';
  const withTokens = [{ iam: true, settings: `${timeouts} idle_session_timeout=10min` }];
  expect(await switchTo({})).toEqual(withTokens);
  // The Data API's pool would reuse a closed session.
  expect(await switchTo({ password: "it's %I ; --" })).toEqual([{ iam: false, settings: timeouts }]);
  expect(await switchTo({})).toEqual(withTokens);
});

const refused: MigrationFailed = { kind: 'migration_failed', message: 'Migration 0002-b failed' };
it('the custom resource fails with the message, and does nothing on deletion', async () => {
  const close = jest.fn(async () => undefined);
  const connect = jest.fn(async () => ({ transaction: async () => fail(refused), close }));
  const handler = createHandler({ log, connect: connect as never, readRoles: async () => [] });
  expect(await handler({ RequestType: 'Delete' })).toEqual({ PhysicalResourceId: 'schema-migration' });
  expect(connect).not.toHaveBeenCalled();
  await expect(handler({ RequestType: 'Update' })).rejects.toThrow(refused.message);
  expect(close).toHaveBeenCalledTimes(1);
});

const rejects = (name: string) => () => Promise.reject(Object.assign(new Error('not yet'), { name }));
const notReady = [...['DatabaseNotFoundException', 'SecretUnreadable'].map(rejects), async () => unavailable];
const delays = [1_000, 2_000, 4_000, 8_000, ...Array(46).fill(10_000)];
const applied = async () => ok('a');
it.each<[what: string, attempts: (() => Promise<unknown>)[], outcome: unknown, pauses: number[]]>([
  ['retries what is expected of a new database', [...notReady, applied], ok('a'), delays.slice(0, 3)],
  ['retries every 10 s for at most 8 minutes, then reports why', notReady.slice(-1), unavailable, delays],
  ['reports a failed migration at once', [async () => fail(refused)], fail(refused), []],
  ['reports a bug at once', [rejects('TypeError')], 'TypeError', []],
])('%s', async (_, attempts, outcome, pauses) => {
  const paused: number[] = [];
  const attempt = () => (attempts.length > 1 ? attempts.shift() : attempts[0])?.() as Promise<never>;
  const now = () => paused.reduce((sum, milliseconds) => sum + milliseconds, 0);
  const pause = async (milliseconds: number) => paused.push(milliseconds);
  expect(await awaitDatabase(attempt, log, { now, pause }).catch(({ name }) => name)).toEqual(outcome);
  expect(paused).toEqual(pauses);
});
