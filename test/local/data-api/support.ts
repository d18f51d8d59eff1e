import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchExecuteStatementCommand,
  type BatchExecuteStatementCommandInput,
  BeginTransactionCommand,
  CommitTransactionCommand,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
  RDSDataClient,
  RollbackTransactionCommand,
} from '@aws-sdk/client-rds-data';
import { type DataApi, type DataApiOptions, startDataApi } from '../../../lib/local/data-api';
import { startPostgres, type TestPostgres } from '../../support/postgres';

export const resourceArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
const secretPrefix = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:';
/** The secret of the superuser. */
export const secretArn = `${secretPrefix}superuser`;

/** The secret of a role of that name, whose password is its name; `wrong-…` has another. */
export const secretOf = (role: string) => `${secretPrefix}role-${role}`;

type Execute = Partial<ExecuteStatementCommandInput>;
type Batch = Partial<BatchExecuteStatementCommandInput>;

export interface Fixture {
  readonly postgres: TestPostgres;
  readonly api: DataApi;
  readonly client: RDSDataClient;
  execute(sql: string, input?: Execute): Promise<Awaited<ReturnType<typeof send>>>;
  batch(sql: string, input?: Batch): ReturnType<typeof sendBatch>;
  begin(): Promise<string>;
  commit(transactionId: string): Promise<string | undefined>;
  rollback(transactionId: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

function send(client: RDSDataClient, sql: string, input: Execute) {
  return client.send(new ExecuteStatementCommand({ resourceArn, secretArn, sql, ...input }));
}

function sendBatch(client: RDSDataClient, sql: string, input: Batch) {
  return client.send(new BatchExecuteStatementCommand({ resourceArn, secretArn, sql, ...input }));
}

/** A real PostgreSQL, the Data API in front of it, and the real client, which repeats nothing. */
export async function startFixture(options: Partial<DataApiOptions> = {}): Promise<Fixture> {
  const postgres = await startPostgres();
  const { host, port, superuser, password } = postgres;
  const api = await startDataApi({
    resolve: (request) => {
      if (request.resourceArn !== resourceArn) return undefined;
      const database = request.database ?? 'postgres';
      if (request.secretArn === secretArn) return { host, port, user: superuser, password, database };
      const role = request.secretArn.split('role-')[1];
      if (!role) return 'unknown-secret';
      return { host, port, user: role.replace('wrong-', ''), password: role, database };
    },
    ...options,
  });
  const client = new RDSDataClient({
    endpoint: api.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  return {
    postgres,
    api,
    client,
    execute: (sql, input = {}) => send(client, sql, input),
    batch: (sql, input = {}) => sendBatch(client, sql, input),
    begin: async () =>
      String((await client.send(new BeginTransactionCommand({ resourceArn, secretArn }))).transactionId),
    commit: async (transactionId) =>
      (await client.send(new CommitTransactionCommand({ resourceArn, secretArn, transactionId })))
        .transactionStatus,
    rollback: async (transactionId) =>
      (await client.send(new RollbackTransactionCommand({ resourceArn, secretArn, transactionId })))
        .transactionStatus,
    stop: async () => {
      client.destroy();
      await api.close();
      await postgres.stop();
    },
  };
}

/** Waits until `check` no longer throws; for what happens soon, but at no known moment. */
export async function eventually(check: () => unknown, patienceMs = 10_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return void (await check());
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

/** Waits until PostgreSQL is at work on a statement that sleeps. */
export function untilAsleep(fixture: Fixture): Promise<void> {
  return eventually(async () => {
    const { records } = await fixture.execute(
      `select 1 from pg_stat_activity where wait_event = 'PgSleep' and state = 'active'`,
    );
    if (records?.length === 0) throw new Error('no statement sleeps');
  });
}
