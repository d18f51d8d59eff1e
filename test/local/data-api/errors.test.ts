import { startDataApi } from '../../../lib/local/data-api';
import {
  eventually,
  type Fixture,
  resourceArn,
  secretArn,
  secretOf,
  startFixture,
  untilAsleep,
} from './support';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture();
  await fixture.execute('create table secret_thing (id int)');
  await fixture.execute(`create role reader login password 'reader'`);
});
afterAll(() => fixture.stop());

const post = (path: string, body: string, method = 'POST') =>
  fetch(fixture.api.url + path, { method, ...(method === 'POST' ? { body } : {}) });

describe('a caller', () => {
  it.each([
    [
      'an unknown cluster',
      { resourceArn: 'arn:aws:rds:eu-central-1:0:cluster:none' },
      'HttpEndpointNotEnabledException',
      "HttpEndpoint isn't enabled for cluster none",
    ],
    [
      'an unknown secret',
      { secretArn: 'arn:aws:secretsmanager:eu-central-1:0:secret:none' },
      'SecretsErrorException',
      "The secret arn:aws:secretsmanager:eu-central-1:0:secret:none wasn't found",
    ],
    [
      'the wrong password',
      { secretArn: secretOf('wrong-reader') },
      'DatabaseErrorException',
      'FATAL: password authentication failed for user "reader"; SQLState: 28P01',
    ],
    [
      'an unknown database',
      { database: 'none' },
      'DatabaseErrorException',
      'FATAL: database "none" does not exist; SQLState: 3D000',
    ],
  ])('with %s is refused', async (_, input, name, message) => {
    await expect(fixture.execute('select 1', input)).rejects.toMatchObject({
      name,
      message,
      $metadata: { httpStatusCode: 400 },
    });
  });

  it('is the role of the secret, with its grants and no more', async () => {
    const reader = { secretArn: secretOf('reader') };
    const { records } = await fixture.execute('select current_user, session_user', reader);
    expect(records?.[0]).toEqual([{ stringValue: 'reader' }, { stringValue: 'reader' }]);
    await expect(fixture.execute('select * from secret_thing', reader)).rejects.toMatchObject({
      name: 'DatabaseErrorException',
      message: 'ERROR: permission denied for table secret_thing; SQLState: 42501',
    });
  });
});

describe('a statement', () => {
  it('with a mistake is answered with its place and SQLSTATE', async () => {
    await expect(fixture.execute('select * from nothing')).rejects.toMatchObject({
      name: 'DatabaseErrorException',
      message: 'ERROR: relation "nothing" does not exist; Position: 15; SQLState: 42P01',
      $metadata: { httpStatusCode: 400 },
    });
  });

  it.each(['select 1; select 2', 'select 1; delete from secret_thing;'])('%s is two', async (sql) => {
    await expect(fixture.execute(sql)).rejects.toMatchObject({
      name: 'ValidationException',
      message: "Multistatements aren't supported.",
    });
  });

  it.each(['select 1;', "select ';'", 'do $$ begin perform 1; perform 2; end $$', 'select 1 -- ; 2'])(
    '%s is one',
    async (sql) => {
      await expect(fixture.execute(sql)).resolves.toBeDefined();
    },
  );

  it('with a schema is refused', async () => {
    await expect(fixture.execute('select 1', { schema: 'public' })).rejects.toMatchObject({
      name: 'ValidationException',
      message: "The schema parameter isn't supported",
    });
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
      await expect(fixture.execute('copy secret_thing from stdin')).rejects.toMatchObject({
        name: 'DatabaseErrorException',
        message: 'ERROR: COPY from stdin failed: the Data API has no way to send the data; SQLState: 57014',
      });
    }
    await expect(fixture.execute('copy (select 1) to stdout')).rejects.toMatchObject({
      name: 'UnsupportedResultException',
      message: 'The Data API has no way to return what COPY sends.',
    });
    await expect(fixture.execute('select 1')).resolves.toBeDefined();
  });

  it.each(['', ';', '-- nothing', '/* nothing */'])('%j, of no command, has an empty answer', async (sql) => {
    const { numberOfRecordsUpdated, generatedFields, records } = await fixture.execute(sql);
    expect({ numberOfRecordsUpdated, generatedFields, records }).toEqual({
      numberOfRecordsUpdated: 0,
      generatedFields: [],
    });
  });

  it('that ends its own connection does not end the service', async () => {
    await expect(fixture.execute('select pg_terminate_backend(pg_backend_pid())')).rejects.toMatchObject({
      name: 'DatabaseUnavailableException',
      $metadata: { httpStatusCode: 504 },
    });
    await expect(fixture.execute('select 1')).resolves.toBeDefined();
  });
});

describe('a request', () => {
  const valid = { resourceArn, secretArn, sql: 'select 1' };

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
    [
      'with two members of a value',
      { parameters: [{ name: 'a', value: { longValue: 1, isNull: true } }] },
      'SerializationException',
    ],
    [
      'with a fraction for a long',
      { parameters: [{ name: 'a', value: { longValue: 1.5 } }] },
      'SerializationException',
    ],
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

describe('when PostgreSQL goes away', () => {
  it('calls fail until it is back', async () => {
    const transactionId = await fixture.begin();
    await fixture.execute('insert into secret_thing values (1)', { transactionId });
    const running = fixture.execute('select pg_sleep(20)::text').catch((error) => error);
    await untilAsleep(fixture);
    await fixture.postgres.kill();
    const unavailable = { name: 'DatabaseUnavailableException', $metadata: { httpStatusCode: 504 } };
    expect(await running).toMatchObject(unavailable);
    await expect(fixture.execute('select 1')).rejects.toMatchObject(unavailable);
    await expect(fixture.begin()).rejects.toMatchObject(unavailable);
    await fixture.postgres.restart();
    await expect(fixture.commit(transactionId)).rejects.toMatchObject({
      name: 'TransactionNotFoundException',
    });
    const { records } = await fixture.execute('select count(*) from secret_thing');
    expect(records?.[0]?.[0]).toEqual({ longValue: 0 });
  });
});

/** A second Data API in front of the PostgreSQL of `fixture`; its own calls are not through the SDK. */
async function startSecond({ postgres: { host, port, superuser, password } }: Fixture) {
  const target = { host, port, user: superuser, password, database: 'postgres' };
  const { url, close } = await startDataApi({ resolve: () => target });
  const call = (path: string, sql: string) =>
    fetch(url + path, { method: 'POST', body: JSON.stringify({ resourceArn, secretArn, sql }) }).catch(
      (error) => error,
    );
  return { call, close };
}

it('closing ends running statements and every connection to PostgreSQL', async () => {
  const other = await startFixture();
  const { call, close } = await startSecond(other);
  const running = call('/Execute', 'select pg_sleep(20)::text');
  await call('/BeginTransaction', '');
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
