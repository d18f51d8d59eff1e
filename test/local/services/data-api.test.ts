import {
  type ArrayValue,
  BatchExecuteStatementCommand,
  BeginTransactionCommand,
  CommitTransactionCommand,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
  type Field,
  RDSDataClient,
  RollbackTransactionCommand,
  type SqlParameter,
} from '@aws-sdk/client-rds-data';
import type { LoopbackServer } from '../../../local/network/loopback-server';
import { localClient } from '../../support/aws-client';
import { eventually } from '../../support/eventually';
import { startDataApi } from '../../support/local-services';
import { startPostgres, type TestPostgres } from '../../support/postgres';

type Input = Partial<ExecuteStatementCommandInput>;

const resourceArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
/** Secrets are named after their roles; except for the superuser, the role's name is also its password. */
const secretOf = (role: string) => `arn:aws:secretsmanager:eu-central-1:000000000000:secret:${role}`;

let postgres: TestPostgres;
let api: LoopbackServer;
let client: RDSDataClient;
let caller: { resourceArn: string; secretArn: string };

beforeAll(async () => {
  postgres = await startPostgres();
  const { host, port, superuser, password } = postgres;
  api = await startDataApi({
    statementMs: 1_500,
    transactionIdleMs: 1_000,
    authorize: ({ accessKeyId, action }) => (accessKeyId === 'denied' ? `no ${action}` : undefined),
    resolve(request) {
      if (request.resourceArn !== resourceArn) return undefined;
      const user = request.secretArn.split(':').at(-1) ?? '';
      if (user === 'unknown') return 'unknown-secret';
      const { database = 'postgres' } = request;
      return { host, port, user, password: user === superuser ? password : user, database };
    },
  });
  client = new RDSDataClient(localClient(api.url));
  caller = { resourceArn, secretArn: secretOf(postgres.superuser) };
  await execute('create table entry (id int primary key)');
  await execute(`create role reader login password 'reader'`);
  await execute(`create role hurried login password 'hurried'`);
  await execute(`alter role hurried set statement_timeout = '50ms'`);
});
beforeEach(() => execute('truncate entry'));
afterAll(async () => {
  // Closing ends running statements and open transactions, or it would take too long.
  await begin();
  const running = execute('select pg_sleep(20)::text').catch(() => undefined);
  await untilAsleep();
  await api.close();
  await running;
  client.destroy();
  await postgres.stop();
});

const execute = (sql: string, input: Input = {}) =>
  client.send(new ExecuteStatementCommand({ ...caller, sql, ...input }));
const begin = async () => (await client.send(new BeginTransactionCommand(caller))).transactionId as string;
const commit = async (transactionId: string) =>
  (await client.send(new CommitTransactionCommand({ ...caller, transactionId }))).transactionStatus;
const rollback = async (transactionId: string) =>
  (await client.send(new RollbackTransactionCommand({ ...caller, transactionId }))).transactionStatus;
const insert = (id: number, transactionId?: string) =>
  execute(`insert into entry values (${id})`, { transactionId });
const selected = async (expression: string, input: Input = {}) =>
  (await execute(`select ${expression}`, input)).records?.[0]?.[0];
const count = async (transactionId?: string) =>
  (await selected('count(*) from entry', { transactionId }))?.longValue;
const untilAsleep = () =>
  eventually(async () => {
    const sleeping = `1 from pg_stat_activity where wait_event = 'PgSleep' and state = 'active'`;
    expect(await selected(sleeping)).toBeDefined();
  });
const refusalOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'not refused',
    ({ name, message, $metadata }) => `${$metadata.httpStatusCode} ${name}: ${message}`,
  );
const x = (value: Field | undefined, typeHint?: SqlParameter['typeHint']): Input => ({
  parameters: [{ name: 'x', value, typeHint }, { name: 'not_in_the_statement' }],
});

it.each<[string, Field]>([
  ['null::int', { isNull: true }],
  ['true', { booleanValue: true }],
  ['7::int2', { longValue: 7 }],
  ['9007199254740991::int8', { longValue: 9007199254740991 }],
  ['1.5::float4', { doubleValue: 1.5 }],
  ['10::float8', { doubleValue: 10 }],
  ['1.50::numeric', { stringValue: '1.50' }],
  [`'{"a": 1}'::jsonb`, { stringValue: '{"a": 1}' }],
])('returns %s as %j', async (expression, field) => {
  expect(await selected(expression)).toEqual(field);
});

it.each<[Field, string]>([
  [{ longValue: -7 }, 'bigint'],
  [{ doubleValue: 1.5 }, 'double precision'],
  [{ booleanValue: false }, 'boolean'],
])('sends the parameter %j as %s', async (value, type) => {
  const { records } = await execute('select pg_typeof(:x)::text, :x', x(value));
  expect(records).toEqual([[{ stringValue: type }, value]]);
});

it.each([
  [`e'\\':y' || :x`, `':yv`],
  [`$$:y'$$ || $q$:y$$ ''$q$ || :x`, `:y':y$$ ''v`],
  [`(select t.":y" from (values (:x)) t(":y"))`, 'v'],
])('finds parameters only outside literals and names: %s', async (expression, value) => {
  expect(await selected(expression, x({ stringValue: 'v' }))).toEqual({ stringValue: value });
});

it('returns the number of changed rows, with rows and labels when asked', async () => {
  const { $metadata: _, ...plain } = await execute('insert into entry values (1), (2)');
  expect(plain).toEqual({ numberOfRecordsUpdated: 2, generatedFields: [] });
  const deletion = 'delete from entry where id = 1 returning id as gone';
  expect(await execute(deletion, { includeResultMetadata: true })).toMatchObject({
    numberOfRecordsUpdated: 1,
    records: [[{ longValue: 1 }]],
    columnMetadata: [{ label: 'gone' }],
  });
});

it.each<[string, string, Input?]>([
  ['HttpEndpointNotEnabledException', 'select 1', { resourceArn: 'arn:aws:rds:eu-central-1:0:cluster:none' }],
  ['SecretsErrorException', 'select 1', { secretArn: secretOf('unknown') }],
  [
    'DatabaseErrorException: FATAL: password authentication failed for user "none"; SQLState: 28P01',
    'select 1',
    { secretArn: secretOf('none') },
  ],
  ['DatabaseErrorException: FATAL: database "none" does not exist', 'select 1', { database: 'none' }],
  [
    'DatabaseErrorException: ERROR: relation "nothing" does not exist; Position: 7; SQLState: 42P01',
    'table nothing',
  ],
  [
    'DatabaseErrorException: ERROR: operator does not exist: integer = text; Hint: No operator matches',
    'select from entry where id = :x',
    x({ stringValue: '1' }),
  ],
  ["ValidationException: Multistatements aren't supported.", 'select 1; select 2'],
  ['ValidationException: schema of ExecuteStatement is not supported', 'select 1', { schema: 'public' }],
  ['ValidationException: :x: no value is not supported. Use one of isNull, booleanValue', 'select :x'],
  ['ValidationException: :x: typeHint is not supported.', 'select :x', x({ stringValue: '1' }, 'UUID')],
  ['ValidationException: :x: arrayValue is not supported.', 'select :x', x({ arrayValue: {} as ArrayValue })],
  ['UnsupportedResultException: The type of the column at is not supported.', 'select now() as at'],
  [
    'UnsupportedResultException: The result contains the number 9007199254740993.',
    `select ${2n ** 53n + 1n}`,
  ],
  [
    'UnsupportedResultException: The result exceeds the size limit 1 MB.',
    "select repeat('x', 1024) from generate_series(1, 1025)",
  ],
  ['UnsupportedResultException: Packet for query is too large', "select repeat('x', 65537)"],
])('refuses: %s', async (refusal, sql, input = {}) => {
  expect(await refusalOf(execute(sql, input))).toContain(`400 ${refusal}`);
});

it('refuses other operations, and callers without permission', async () => {
  const batch = new BatchExecuteStatementCommand({ ...caller, sql: 'select 1' });
  expect(await refusalOf(client.send(batch))).toContain('/BatchExecute is not supported');
  const credentials = { accessKeyId: 'denied', secretAccessKey: 'x' };
  const denied = new RDSDataClient({ ...localClient(api.url), credentials });
  const call = denied.send(new ExecuteStatementCommand({ ...caller, sql: 'select 1' }));
  expect(await refusalOf(call)).toBe('403 AccessDeniedException: no rds-data:ExecuteStatement');
});

it('runs a statement as the role of its secret, without session state from earlier ones', async () => {
  const reader = { secretArn: secretOf('reader') };
  for (const leave of [`set application_name = 'left'`, 'begin', 'select pg_advisory_lock(1)::text']) {
    await execute(leave, reader);
  }
  const rest = `current_user::text || current_setting('application_name') || (select count(*) from pg_locks
    where locktype = 'advisory') || (select count(*) from pg_stat_activity where state like 'idle in%')`;
  await eventually(async () => expect(await selected(rest, reader)).toEqual({ stringValue: 'reader00' }));
});

it.each([
  ['the Data API’s limit', 'StatementTimeoutException: Request timed out', {}],
  [
    'the limit of its role',
    'DatabaseErrorException: ERROR: canceling statement due to statement timeout; SQLState: 57014',
    { secretArn: secretOf('hurried') },
  ],
])('PostgreSQL cancels a statement at %s', async (_, refusal, input) => {
  expect(await refusalOf(execute('select pg_sleep(20)::text', input))).toBe(`400 ${refusal}`);
});

describe('a transaction', () => {
  const notFound = /^404 TransactionNotFoundException: /;

  it('is isolated, and has ended after its commit', async () => {
    const id = await begin();
    await insert(1, id);
    expect([await count(id), await count()]).toEqual([1, 0]);
    expect(await commit(id)).toBe('Transaction Committed');
    expect(await count()).toBe(1);
    for (const late of [insert(2, id), commit(id), rollback(id)]) {
      expect(await refusalOf(late)).toMatch(notFound);
    }
  });

  it('in which a statement failed cannot be committed', async () => {
    const id = await begin();
    await insert(1, id);
    expect(await refusalOf(insert(1, id))).toMatch(/duplicate key .*SQLState: 23505$/);
    expect(await refusalOf(insert(2, id))).toMatch(/SQLState: 25P02$/);
    expect(await refusalOf(commit(id))).toMatch(/^404 .* An error of a previous call has aborted it\.$/);
    expect(await count()).toBe(0);
  });

  it('is not found by another caller', async () => {
    const transactionId = await begin();
    const other = execute('select 1', { transactionId, secretArn: secretOf('reader') });
    expect(await refusalOf(other)).toMatch(notFound);
    expect(await rollback(transactionId)).toBe('Rollback Complete');
  });

  it('expires when idle, and releases its locks', async () => {
    const transactionId = await begin();
    await execute('lock table entry in access exclusive mode', { transactionId });
    await eventually(count);
    expect(await refusalOf(commit(transactionId))).toMatch(notFound);
  });
});

it('calls fail while PostgreSQL is down, and work again afterwards; open transactions are lost', async () => {
  const transactionId = await begin();
  await insert(1, transactionId);
  const running = refusalOf(execute('select pg_sleep(20)::text'));
  await untilAsleep();
  await postgres.kill();
  for (const call of [running, refusalOf(execute('select 1')), refusalOf(begin())]) {
    expect(await call).toMatch(/^504 DatabaseUnavailableException: /);
  }
  await postgres.restart();
  expect(await refusalOf(commit(transactionId))).toMatch(/^(404|504) /);
  expect(await count()).toBe(0);
});
