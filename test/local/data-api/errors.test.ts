import type { Field, TypeHint } from '@aws-sdk/client-rds-data';
import { startDataApi } from '../../../local/data-api';
import { eventually } from '../../support/eventually';
import {
  type Fixture,
  refusalOf,
  resourceArn,
  secretArn,
  secretOf,
  startFixture,
  untilAsleep,
} from './support';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
  await fixture.execute('create table thing (id int)');
  await fixture.execute(`create role reader login password 'reader'`);
});
afterAll(() => fixture.stop());

const post = (path: string, body: string, method = 'POST') =>
  fetch(fixture.api.url + path, { method, ...(method === 'POST' ? { body } : {}) });

const unavailable = /^504 DatabaseUnavailableException: /;

const reader = { secretArn: secretOf('reader') };
const x = (value: Field, typeHint?: TypeHint) => ({ parameters: [{ name: 'x', value, typeHint }] });

type Refusal = [sql: string, input: Parameters<Fixture['execute']>[1], message: unknown];
const refusals: Record<string, Refusal[]> = {
  HttpEndpointNotEnabledException: [
    [
      'select 1',
      { resourceArn: 'arn:aws:rds:eu-central-1:0:cluster:none' },
      "HttpEndpoint isn't enabled for cluster none",
    ],
  ],
  SecretsErrorException: [
    ['select 1', { secretArn: secretOf('') }, `The secret ${secretOf('')} wasn't found`],
  ],
  DatabaseErrorException: [
    [
      'select 1',
      { secretArn: secretOf('wrong-reader') },
      'FATAL: password authentication failed for user "reader"; SQLState: 28P01',
    ],
    ['select 1', { database: 'none' }, 'FATAL: database "none" does not exist; SQLState: 3D000'],
    ['table thing', reader, 'ERROR: permission denied for table thing; SQLState: 42501'],
    ['table nothing', {}, 'ERROR: relation "nothing" does not exist; Position: 7; SQLState: 42P01'],
    [
      'select :x::text',
      {},
      'ERROR: bind message supplies 0 parameters, but prepared statement "" requires 1; SQLState: 08P01',
    ],
    ['select $1', x({ longValue: 1 }), expect.stringContaining('SQLState: 08P01')],
    ['select $1, :x', x({ longValue: 1 }), 'ERROR: there is no parameter $1; SQLState: 42P02'],
    [
      'select * from thing where id = :x',
      x({ stringValue: '1' }),
      expect.stringMatching(
        /^ERROR: operator does not exist: integer = text; Hint: .+; Position: 30; SQLState: 42883$/,
      ),
    ],
  ],
  ValidationException: [
    ['select 1', { schema: 'public' }, "The schema parameter isn't supported"],
    ['select 1; select 2', {}, "Multistatements aren't supported."],
    ['select 1; delete from thing;', {}, "Multistatements aren't supported."],
    ['select :x', x({ arrayValue: { longValues: [1] } }), 'Array parameters are not supported.'],
  ],
  BadRequestException: [
    ['select :x', x({ stringValue: '2024-02-29T00:00:00Z' }, 'TIMESTAMP'), expect.any(String)],
    [
      'select 1 as a, 2 as a',
      { formatRecordsAs: 'JSON' },
      'The result contains more than one column of the same name',
    ],
  ],
  UnsupportedResultException: [
    ['copy (select 1) to stdout', {}, 'The Data API has no way to return what COPY sends.'],
    ['select array[[1, 2], [3, 4]]', {}, 'The result contains a multidimensional array.'],
    ["select repeat('x', 1018) from generate_series(1, 1025)", {}, 'The result exceeds the size limit 1 MB.'],
    [`select repeat('x', ${64 * 1024 - 5})`, {}, 'Packet for query is too large'],
  ],
};

describe.each(Object.entries(refusals))('%s', (name, rows) => {
  it.each(rows)('%s with %j', async (sql, input, message) => {
    const error = { name, message, $metadata: { httpStatusCode: 400 } };
    await expect(fixture.execute(sql, input)).rejects.toMatchObject(error);
  });
});

describe('a statement', () => {
  it('runs as the role of the secret', async () => {
    const { records } = await fixture.execute('select current_user, session_user', reader);
    expect(records?.[0]).toEqual([{ stringValue: 'reader' }, { stringValue: 'reader' }]);
  });

  it.each(['select 1;', "select ';'", 'do $$ begin perform 1; perform 2; end $$', 'select 1 -- ; 2'])(
    '%s is one',
    async (sql) => {
      await expect(fixture.execute(sql)).resolves.toBeDefined();
    },
  );

  it('with an infinite time is an internal error, as in AWS', async () => {
    expect(await refusalOf(fixture.execute("select 'infinity'::timestamptz"))).toMatch(
      /^500 InternalServerErrorException: /,
    );
  });

  it('leaves no session state to the next', async () => {
    await fixture.execute(`set application_name = 'left'`);
    await fixture.execute('create temporary table left_behind (id int)');
    await fixture.execute('begin');
    const names = await Promise.all(
      Array.from({ length: 5 }, () => fixture.execute(`select current_setting('application_name')`)),
    );
    expect(names.map(({ records }) => records?.[0]?.[0]?.stringValue)).toEqual(Array(5).fill('rds-data-api'));
    const { records } = await fixture.execute(
      `select 1 from pg_class where relname = 'left_behind'
       union all select 2 from pg_stat_activity where state like 'idle in%'`,
    );
    expect(records).toEqual([]);
  });

  it('leaves no lock of its session', async () => {
    await fixture.execute('select pg_advisory_lock(1)::text');
    await eventually(async () => {
      const { records } = await fixture.execute(`select objid from pg_locks where locktype = 'advisory'`);
      expect(records).toEqual([]);
    });
  });

  it('that copies is refused, and none keeps its connection', async () => {
    for (let call = 0; call < 25; call++) {
      expect(await refusalOf(fixture.execute('copy thing from stdin'))).toBe(
        '400 DatabaseErrorException: ERROR: COPY from stdin failed: the Data API has no way to send the data; SQLState: 57014',
      );
    }
    await expect(fixture.execute('select 1')).resolves.toBeDefined();
  });

  it.each(['', ';', '-- nothing', '/* nothing */'])('%j, of no command, has an empty answer', async (sql) => {
    const { $metadata: _, ...answer } = await fixture.execute(sql);
    expect(answer).toEqual({ numberOfRecordsUpdated: 0, generatedFields: [] });
  });

  it('that ends its own connection does not end the service', async () => {
    const ends = fixture.execute('select pg_terminate_backend(pg_backend_pid())');
    expect(await refusalOf(ends)).toMatch(unavailable);
    await expect(fixture.execute('select 1')).resolves.toBeDefined();
  });
});

describe('a request', () => {
  const valid = { resourceArn, secretArn, sql: 'select 1' };

  const value = (fields: object) => ({ parameters: [{ name: 'a', value: fields }] });

  it.each<[string, object, string]>([
    ['without a statement', { sql: undefined }, 'ValidationException'],
    ['without a cluster', { resourceArn: null }, 'ValidationException'],
    ['with a long statement', { sql: ' '.repeat(65_537) }, 'ValidationException'],
    ['with a long ARN', { secretArn: 'x'.repeat(101) }, 'ValidationException'],
    ['with a short ARN', { secretArn: 'x' }, 'ValidationException'],
    ['with an unknown format', { formatRecordsAs: 'XML' }, 'ValidationException'],
    ['with an unknown hint', { parameters: [{ name: 'a', typeHint: 'INT' }] }, 'ValidationException'],
    ['with a number for a statement', { sql: 1 }, 'SerializationException'],
    ['with text for parameters', { parameters: 'a' }, 'SerializationException'],
    ['with two members of a value', value({ longValue: 1, isNull: true }), 'SerializationException'],
    ['with a fraction for a long', value({ longValue: 1.5 }), 'SerializationException'],
  ])('%s is refused', async (_, change, name) => {
    const response = await post('/Execute', JSON.stringify({ ...valid, ...change }));
    expect(response.status).toBe(400);
    expect(response.headers.get('x-amzn-errortype')).toBe(name);
    expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.json()).toEqual({ message: expect.any(String) });
  });

  it.each(['', '{', '[]', 'null', '"x"'])('of %j is refused', async (body) => {
    const response = await post('/Execute', body);
    expect(response.headers.get('x-amzn-errortype')).toBe('SerializationException');
  });

  it('of more than 4 MiB is refused', async () => {
    const response = await post('/Execute', 'x'.repeat(4 * 1024 * 1024 + 1));
    expect(response.headers.get('x-amzn-errortype')).toBe('BadRequestException');
  });

  it('for no operation, or for the withdrawn one, is refused', async () => {
    expect((await post('/Nothing', '{}')).status).toBe(404);
    expect((await post('/Execute', '', 'GET')).status).toBe(404);
    const executeSql = await post('/ExecuteSql', '{}');
    expect(executeSql.headers.get('x-amzn-errortype')).toBe('BadRequestException');
  });
});

it('while PostgreSQL is away, calls fail', async () => {
  const transactionId = await fixture.begin();
  await fixture.execute('insert into thing values (1)', { transactionId });
  const running = refusalOf(fixture.execute('select pg_sleep(20)::text'));
  await untilAsleep(fixture);
  await fixture.postgres.kill();
  expect(await running).toMatch(unavailable);
  expect(await refusalOf(fixture.execute('select 1'))).toMatch(unavailable);
  expect(await refusalOf(fixture.begin())).toMatch(unavailable);
  await fixture.postgres.restart();
  expect(await refusalOf(fixture.commit(transactionId))).toMatch(/^404 TransactionNotFoundException: /);
  const { records } = await fixture.execute('select count(*) from thing');
  expect(records?.[0]?.[0]).toEqual({ longValue: 0 });
});

/** A second Data API in front of the PostgreSQL of `fixture`; its own calls are not through the SDK. */
async function startSecond({ postgres: { host, port, superuser, password } }: Fixture) {
  const target = { host, port, user: superuser, password, database: 'postgres' };
  const { url, close } = await startDataApi({ resolve: () => target });
  const call = (path: string, sql: string, input: object = {}) =>
    fetch(url + path, {
      method: 'POST',
      body: JSON.stringify({ resourceArn, secretArn, sql, ...input }),
    }).catch((error) => error);
  return { call, close };
}

it('closing ends running statements and every connection to PostgreSQL', async () => {
  const other = await startFixture();
  const { call, close } = await startSecond(other);
  const running = call('/Execute', 'select pg_sleep(20)::text');
  await call('/BeginTransaction', '');
  const { transactionId } = await (await call('/BeginTransaction', '')).json();
  await call('/RollbackTransaction', '', { transactionId });
  await untilAsleep(other);
  await close();
  expect(await running).toMatchObject({ name: 'TypeError' });
  await eventually(async () => {
    const { records } = await other.execute(
      `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    expect(records).toEqual([]);
  });
  await other.stop();
});

it('closing does not wait for a statement that ignores its cancellation', async () => {
  const { call, close } = await startSecond(fixture);
  const running = call(
    '/Execute',
    `do $$ begin
      loop
        begin perform pg_sleep(20); exception when query_canceled then null; end;
      end loop;
    end $$`,
  );
  await untilAsleep(fixture);
  await close();
  expect(await running).toMatchObject({ name: 'TypeError' });
});

it('an idle connection is not closed by the service', async () => {
  const response = await post('/Execute', JSON.stringify({ resourceArn, secretArn, sql: 'select 1' }));
  expect(response.headers.get('connection')).toBe('keep-alive');
  expect(response.headers.get('keep-alive')).toBeNull();
});
