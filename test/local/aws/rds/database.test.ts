import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type ExecuteStatementCommandInput, RDSData } from '@aws-sdk/client-rds-data';
import { Client, type ClientConfig } from 'pg';
import { localCertificate } from '../../../../local/aws/rds/certificate';
import { ensureDatabase } from '../../../../local/aws/rds/resources';
import { localClient, startDataApi } from '../../../support/aws-client';
import { eventually } from '../../../support/eventually';
import { startPostgres, type TestPostgres } from '../../../support/postgres';
import { temporaryFolder } from '../../../support/temporary-folder';

// What the product's own client sends is in test/contract/database.test.ts. Its functions sign in by tokens and by passwords: end-to-end.

type Input = Partial<ExecuteStatementCommandInput>;

const resourceArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
/** Secrets are named after their roles. All have the superuser's password. */
const secretOf = (role: string) => `arn:aws:secretsmanager:eu-central-1:000000000000:secret:${role}`;

const caller = { resourceArn, secretArn: secretOf('postgres') };
const owner = { username: 'master', password: 'correct horse' };
const folder = temporaryFolder();
let postgres: TestPostgres;
let api: Awaited<ReturnType<typeof startDataApi>>;
let data: RDSData;

beforeAll(async () => {
  postgres = await startPostgres();
  for (const database of ['earlier', 'wallet']) await ensureDatabase(postgres, database, owner);
  api = await startDataApi({
    statementMs: 1_500,
    resolve({ secretArn }) {
      const user = secretArn.split(':').at(-1) ?? '';
      return user === 'unknown' ? 'unknown-secret' : { ...postgres, database: 'wallet', user };
    },
  });
  data = new RDSData(localClient(api.url));
  await execute('create table entry (id int primary key)');
  await execute(`create role reader login password '${postgres.password}'`);
});
afterAll(async () => {
  await api.close();
  data.destroy();
  await postgres.stop();
});

const execute = (sql: string, input: Input = {}) => data.executeStatement({ ...caller, sql, ...input });
const rowOf = async (columns: string, input: Input = {}) =>
  (await execute(`select ${columns}`, input)).records?.[0];

it.each<[name: string, message: string, sql: string, input?: Input]>([
  ['SecretsError', 'The secret', 'select 1', { secretArn: secretOf('unknown') }],
  ['DatabaseError', 'ERROR: operator does not exist: integer = text; Hint: No', `select 1 = '1'::text`],
  ['Validation', "Multistatements aren't supported.", 'select 1; select 2'],
  ['Validation', ':x: no value is not supported. Use one of isNull, booleanValue', 'select :x'],
  ['UnsupportedResult', 'The type of the column at is not supported.', 'select now() as at'],
  ['UnsupportedResult', 'The result contains the number 9007199254740993.', 'select 9007199254740993'],
  ['UnsupportedResult', 'The result exceeds', "select repeat('x', 1024) from generate_series(1, 1025)"],
  ['UnsupportedResult', 'Packet for query is too large', "select repeat('x', 65537)"],
  ['StatementTimeout', 'Request timed out', 'select pg_sleep(20)::text'],
])('refuses with %sException: %s', async (name, message, sql, input = {}) => {
  const refusal = { name: `${name}Exception`, message: expect.stringContaining(message) };
  await expect(execute(sql, input)).rejects.toMatchObject({ ...refusal, $metadata: { httpStatusCode: 400 } });
});

it('a transaction is not found by another caller, and releases its locks when it expires', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'Date', 'performance'] });
  const { transactionId = '' } = await data.beginTransaction(caller);
  await execute('lock table entry in access exclusive mode', { transactionId });
  const notFound = { name: 'TransactionNotFoundException', $metadata: { httpStatusCode: 404 } };
  const other = execute('select 1', { transactionId, secretArn: secretOf('reader') });
  await expect(other).rejects.toMatchObject(notFound);
  // Three minutes after the last statement.
  jest.advanceTimersByTime(180_000);
  jest.useRealTimers();
  await eventually(() => rowOf('count(*) from entry'));
  await expect(execute('select 1', { transactionId })).rejects.toMatchObject(notFound);
});

it('a new cluster has an owner who is no superuser, and refuses wrong passwords, and tokens without TLS', async () => {
  async function signIn(config: ClientConfig) {
    const ssl = { rejectUnauthorized: false };
    const signedIn = new Client({ ...postgres, host: 'localhost', database: 'wallet', ssl, ...config });
    await signedIn.connect();
    return signedIn;
  }
  // As in Aurora, it may create roles, and grant rds_iam.
  const signedIn = await signIn({ user: owner.username, password: owner.password });
  await signedIn.query(`
    create role by_token login in role rds_iam;
    create role by_password login password 'correct'`);
  await expect(signedIn.query('alter system set fsync = off')).rejects.toThrow('permission denied');
  await signedIn.end();
  for (const user of ['by_password', owner.username, 'postgres'])
    await expect(signIn({ user, password: 'wrong' })).rejects.toMatchObject({ code: '28P01' });
  const withoutTls = signIn({ user: 'by_token', password: 'wrong', ssl: false });
  await expect(withoutTls).rejects.toMatchObject({ code: '28P01' });
});

it.each([
  ['is valid', 0, true],
  ['is not valid yet, since the clock was wrong', -2, false],
  ['has expired', 3_650, false],
])('a stored certificate that %s', async (_, days, isKept) => {
  const stored = await localCertificate(folder());
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + days * 86_400_000);
  const found = await localCertificate(folder());
  clock.mockRestore();
  expect(found.cert === stored.cert).toBe(isKept);
  expect(await localCertificate(folder())).toEqual(found);
  expect(statSync(join(folder(), 'localhost-key.pem')).mode & 0o077).toBe(0);
});
