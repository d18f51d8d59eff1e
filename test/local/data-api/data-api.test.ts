import {
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
import { localClient } from '../../support/aws-client';
import { eventually } from '../../support/eventually';
import { startDataApi } from '../../support/local-services';
import { startPostgres, type TestPostgres } from '../../support/postgres';

type Input = Partial<ExecuteStatementCommandInput>;

const resourceArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
/** The secret's name is that of the role, and the password of a role but the superuser's is its name. */
const secretOf = (role: string) => `arn:aws:secretsmanager:eu-central-1:000000000000:secret:${role}`;
const statementMs = 1_500;
const transactionIdleMs = 1_000;

let postgres: TestPostgres;
let api: Awaited<ReturnType<typeof startDataApi>>;
let client: RDSDataClient;
let caller: { resourceArn: string; secretArn: string };

beforeAll(async () => {
  postgres = await startPostgres();
  const { host, port, superuser, password } = postgres;
  api = await startDataApi({
    statementMs,
    transactionIdleMs,
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
  caller = { resourceArn, secretArn: secretOf(superuser) };
  await execute('create table entry (id int primary key)');
  await execute('create table deferred (id int references entry deferrable initially deferred)');
  await execute(`create role reader login password 'reader'`);
  await execute(`create role refused login password 'another'`);
});
beforeEach(() => execute('truncate entry cascade'));
afterAll(async () => {
  client.destroy();
  await api.close();
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
  execute('insert into entry values (:id)', {
    parameters: [{ name: 'id', value: { longValue: id } }],
    transactionId,
  });
const selected = async (expression: string, input: Input = {}) =>
  (await execute(`select ${expression}`, input)).records?.[0]?.[0];
const count = async (transactionId?: string) =>
  (await selected('count(*) from entry', { transactionId }))?.longValue;
const refusalOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'not refused',
    ({ name, message, $metadata }) => `${$metadata.httpStatusCode} ${name}: ${message}`,
  );
const untilAsleep = () =>
  eventually(async () => {
    const sleeping = `1 from pg_stat_activity where wait_event = 'PgSleep' and state = 'active'`;
    expect(await selected(sleeping)).toBeDefined();
  });

it.each<[string, Field]>([
  ['null::int', { isNull: true }],
  ['true', { booleanValue: true }],
  ['7::int2', { longValue: 7 }],
  ['9007199254740991::int8', { longValue: 9007199254740991 }],
  ['1.5::float4', { doubleValue: 1.5 }],
  ['10::float8', { doubleValue: 10 }],
  ['1.50::numeric', { stringValue: '1.50' }],
  ["'naïve ✓'::varchar", { stringValue: 'naïve ✓' }],
  [`'{"a": 1}'::jsonb`, { stringValue: '{"a": 1}' }],
  ["'8d7ae0a4-0d8d-4c4e-9d43-58a0c0a3a1b5'::uuid", { stringValue: '8d7ae0a4-0d8d-4c4e-9d43-58a0c0a3a1b5' }],
  ["'2024-02-29 12:00+09'::timestamptz::text", { stringValue: '2024-02-29 03:00:00+00' }],
])('returns %s as %j', async (expression, field) => {
  expect(await selected(expression)).toEqual(field);
});

it.each<[Field, string]>([
  [{ stringValue: `'; drop table entry; -- :x $1 \\ ✓` }, 'text'],
  [{ longValue: -7 }, 'bigint'],
  [{ doubleValue: 1.5 }, 'double precision'],
  [{ booleanValue: false }, 'boolean'],
])('sends the parameter %j as %s', async (value, type) => {
  const parameters: SqlParameter[] = [{ name: 'x', value }, { name: 'not_in_the_statement' }];
  const { records } = await execute('select pg_typeof(:x)::text, :x', { parameters });
  expect(records).toEqual([[{ stringValue: type }, value]]);
});

it('sends null', async () => {
  const parameters: SqlParameter[] = [{ name: 'x', value: { isNull: true } }];
  expect(await selected(':x::int is null', { parameters })).toEqual({ booleanValue: true });
});

it('returns the number of changed rows, with rows and labels when asked', async () => {
  const { $metadata: _, ...plain } = await execute('insert into entry values (1), (2)');
  expect(plain).toEqual({ numberOfRecordsUpdated: 2, generatedFields: [] });
  expect(
    await execute('delete from entry where id = 1 returning id as gone', { includeResultMetadata: true }),
  ).toMatchObject({
    numberOfRecordsUpdated: 1,
    records: [[{ longValue: 1 }]],
    columnMetadata: [{ label: 'gone' }],
  });
});

const x = (value: Field | undefined, typeHint?: SqlParameter['typeHint']): Input => ({
  parameters: [{ name: 'x', value, typeHint }],
});

it.each<[string, string, Input]>([
  [
    "400 HttpEndpointNotEnabledException: HttpEndpoint isn't enabled for cluster none",
    'select 1',
    { resourceArn: 'arn:aws:rds:eu-central-1:0:cluster:none' },
  ],
  [
    `400 SecretsErrorException: The secret ${secretOf('unknown')} wasn't found`,
    'select 1',
    { secretArn: secretOf('unknown') },
  ],
  [
    '400 DatabaseErrorException: FATAL: password authentication failed for user "refused"; SQLState: 28P01',
    'select 1',
    { secretArn: secretOf('refused') },
  ],
  [
    '400 DatabaseErrorException: FATAL: database "none" does not exist; SQLState: 3D000',
    'select 1',
    { database: 'none' },
  ],
  [
    '400 DatabaseErrorException: ERROR: permission denied for table entry; SQLState: 42501',
    'table entry',
    { secretArn: secretOf('reader') },
  ],
  [
    '400 DatabaseErrorException: ERROR: relation "nothing" does not exist; Position: 7; SQLState: 42P01',
    'table nothing',
    {},
  ],
  ["400 ValidationException: Multistatements aren't supported.", 'select 1; select 2', {}],
  ['400 ValidationException: COPY is not supported.', 'copy entry from stdin', {}],
  ['400 ValidationException: sql is longer than 65536 characters', ' '.repeat(65_537), {}],
  ['400 ValidationException: schema of ExecuteStatement is not supported', 'select 1', { schema: 'public' }],
  [
    '400 ValidationException: formatRecordsAs of ExecuteStatement is not supported',
    'select 1',
    { formatRecordsAs: 'JSON' },
  ],
  [
    '400 ValidationException: continueAfterTimeout of ExecuteStatement is not supported',
    'select 1',
    { continueAfterTimeout: true },
  ],
  ['400 ValidationException: :x is not among the parameters.', 'select :x', {}],
  [
    '400 ValidationException: :x: typeHint is not supported. Cast it in the statement.',
    'select :x',
    x({ stringValue: '1' }, 'UUID'),
  ],
  [
    '400 ValidationException: :x: arrayValue is not supported. Give one of isNull, booleanValue, longValue, doubleValue, stringValue.',
    'select :x',
    x({ arrayValue: { longValues: [1] } }),
  ],
  [
    '400 ValidationException: :x: no value is not supported. Give one of isNull, booleanValue, longValue, doubleValue, stringValue.',
    'select :x',
    x(undefined),
  ],
  [
    '400 UnsupportedResultException: The result contains the unsupported data type timestamp with time zone. Cast at to text.',
    'select now() as at',
    {},
  ],
  [
    '400 UnsupportedResultException: The result contains the unsupported data type integer[]. Cast ids to text.',
    'select array[1] as ids',
    {},
  ],
  [
    '400 UnsupportedResultException: The result contains the number 9007199254740993. Cast it to text.',
    'select 9007199254740993',
    {},
  ],
  [
    '400 UnsupportedResultException: The result exceeds the size limit 1 MB.',
    "select repeat('x', 1024) from generate_series(1, 1025)",
    {},
  ],
  ['400 UnsupportedResultException: Packet for query is too large', "select repeat('x', 65537)", {}],
])('%s', async (refusal, sql, input) => {
  expect(await refusalOf(execute(sql, input))).toBe(refusal);
});

it('refuses a parameter of another type with PostgreSQL’s hint', async () => {
  const refusal = await refusalOf(execute('select from entry where id = :x', x({ stringValue: '1' })));
  expect(refusal).toMatch(
    /^400 .*operator does not exist: integer = text; Hint: .+; Position: 28; SQLState: 42883$/,
  );
});

it('refuses operations that it does not have, and callers without permission', async () => {
  const batch = new BatchExecuteStatementCommand({ ...caller, sql: 'select 1' });
  expect(await refusalOf(client.send(batch))).toBe(
    '404 UnknownOperationException: /BatchExecute of the RDS Data API is not supported',
  );
  const credentials = { accessKeyId: 'denied', secretAccessKey: 'x' };
  const denied = new RDSDataClient({ ...localClient(api.url), credentials });
  const call = denied.send(new ExecuteStatementCommand({ ...caller, sql: 'select 1' }));
  expect(await refusalOf(call)).toBe('403 AccessDeniedException: no rds-data:ExecuteStatement');
});

it('runs a statement as the role of its secret, and leaves nothing of its session to the next', async () => {
  const reader = { secretArn: secretOf('reader') };
  for (const leave of [`set application_name = 'left'`, 'begin', 'select pg_advisory_lock(1)::text']) {
    await execute(leave, reader);
  }
  const rest = `current_user::text || current_setting('application_name') || (select count(*) from pg_locks
    where locktype = 'advisory') || (select count(*) from pg_stat_activity where state like 'idle in%')`;
  await eventually(async () =>
    expect(await selected(rest, reader)).toEqual({ stringValue: 'readerrds-data-api00' }),
  );
});

describe('a statement that takes too long', () => {
  it('is ended by PostgreSQL and called a timeout', async () => {
    expect(await refusalOf(execute('insert into entry select 1 from pg_sleep(20)'))).toBe(
      '400 StatementTimeoutException: Request timed out',
    );
    expect(await count()).toBe(0);
  });

  it('is an error of the database when the role has a limit of its own', async () => {
    await execute(`create role hurried login password 'hurried'`);
    await execute(`alter role hurried set statement_timeout = '50ms'`);
    const slow = execute('select pg_sleep(20)::text', { secretArn: secretOf('hurried') });
    expect(await refusalOf(slow)).toBe(
      '400 DatabaseErrorException: ERROR: canceling statement due to statement timeout; SQLState: 57014',
    );
  });
});

describe('a transaction', () => {
  const notFound = /^404 TransactionNotFoundException: /;

  it.each([
    ['commit', commit, 'Transaction Committed', 1],
    ['rollback', rollback, 'Rollback Complete', 0],
  ] as const)('has ended after its %s', async (_, end, status, kept) => {
    const id = await begin();
    await insert(1, id);
    expect([await count(id), await count()]).toEqual([1, 0]);
    expect(await end(id)).toBe(status);
    expect(await count()).toBe(kept);
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

  it('whose commit PostgreSQL refuses has ended', async () => {
    const id = await begin();
    await execute('insert into deferred values (7)', { transactionId: id });
    expect(await refusalOf(commit(id))).toMatch(/^400 DatabaseErrorException: .*SQLState: 23503$/);
    expect(await refusalOf(commit(id))).toMatch(notFound);
  });

  it('is not found by another caller', async () => {
    const transactionId = await begin();
    const other = execute('select 1', { transactionId, secretArn: secretOf('reader') });
    expect(await refusalOf(other)).toMatch(notFound);
    await rollback(transactionId);
  });

  it('takes one call at a time', async () => {
    const transactionId = await begin();
    const first = execute('select pg_sleep(0.4)::text', { transactionId });
    await untilAsleep();
    expect(await refusalOf(count(transactionId))).toBe(
      '400 DatabaseErrorException: Transaction is still running a query',
    );
    await first;
    await rollback(transactionId);
  });

  it('expires, and gives its locks back', async () => {
    const transactionId = await begin();
    await execute('lock table entry in access exclusive mode', { transactionId });
    await eventually(count);
    expect(await refusalOf(commit(transactionId))).toMatch(notFound);
  });
});

it('while PostgreSQL is away, calls fail; what was open is lost, and the rest goes on afterwards', async () => {
  const transactionId = await begin();
  await insert(1, transactionId);
  const running = refusalOf(execute('select pg_sleep(20)::text'));
  await untilAsleep();
  await postgres.kill();
  const unavailable = /^504 DatabaseUnavailableException: /;
  for (const call of [running, refusalOf(execute('select 1')), refusalOf(begin())]) {
    expect(await call).toMatch(unavailable);
  }
  await postgres.restart();
  expect(await refusalOf(commit(transactionId))).toMatch(/^404 TransactionNotFoundException: /);
  expect(await count()).toBe(0);
});

it('closing does not wait for running statements, and leaves no connection', async () => {
  const { host, port, superuser: user, password, database } = postgres;
  const other = await startDataApi({ resolve: () => ({ host, port, user, password, database }) });
  const otherClient = new RDSDataClient(localClient(other.url));
  const running = refusalOf(
    otherClient.send(new ExecuteStatementCommand({ ...caller, sql: 'select pg_sleep(20)::text' })),
  ).catch(() => 'cut off');
  await otherClient.send(new BeginTransactionCommand(caller));
  await untilAsleep();
  await other.close();
  expect(await running).toMatch(/cut off|DatabaseUnavailableException/);
  otherClient.destroy();
  await eventually(async () =>
    expect(await selected(`count(*) from pg_stat_activity where state = 'idle in transaction'`)).toEqual({
      longValue: 0,
    }),
  );
});
