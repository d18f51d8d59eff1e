import {
  BeginTransactionCommand,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
  RDSDataClient,
} from '@aws-sdk/client-rds-data';
import type { LoopbackServer } from '../../../../local/shared/loopback-server';
import { localClient, startDataApi } from '../../../support/aws-client';
import { eventually } from '../../../support/eventually';
import { startPostgres, type TestPostgres } from '../../../support/postgres';

// What the product's own client sends is in test/contract/database.test.ts.

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
  api = await startDataApi({
    statementMs: 1_500,
    resolve({ secretArn }) {
      const user = secretArn.split(':').at(-1) ?? '';
      if (user === 'unknown') return 'unknown-secret';
      return { ...postgres, user, password: user === postgres.superuser ? postgres.password : user };
    },
  });
  client = new RDSDataClient(localClient(api.url));
  caller = { resourceArn, secretArn: secretOf(postgres.superuser) };
  await execute('create table entry (id int primary key)');
  await execute(`create role reader login password 'reader'`);
});
afterAll(async () => {
  await api.close();
  client.destroy();
  await postgres.stop();
});

const execute = (sql: string, input: Input = {}) =>
  client.send(new ExecuteStatementCommand({ ...caller, sql, ...input }));
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
  const begun = await client.send(new BeginTransactionCommand(caller));
  const transactionId = begun.transactionId as string;
  await execute('lock table entry in access exclusive mode', { transactionId });
  const notFound = { name: 'TransactionNotFoundException', $metadata: { httpStatusCode: 404 } };
  const other = execute('select 1', { transactionId, secretArn: secretOf('reader') });
  await expect(other).rejects.toMatchObject(notFound);
  // Each statement begins the idle time of three minutes anew.
  for (const _ of [1, 2]) {
    jest.advanceTimersByTime(179_000);
    await execute('select 1', { transactionId });
  }
  jest.advanceTimersByTime(180_000);
  jest.useRealTimers();
  await eventually(() => rowOf('count(*) from entry'));
  await expect(execute('select 1', { transactionId })).rejects.toMatchObject(notFound);
});
