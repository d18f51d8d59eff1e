import {
  BatchExecuteStatementCommand,
  type BatchExecuteStatementCommandInput,
  BeginTransactionCommand,
  type BeginTransactionCommandInput,
  CommitTransactionCommand,
  type CommitTransactionCommandInput,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
  RDSDataClient,
  RollbackTransactionCommand,
  type RollbackTransactionCommandInput,
} from '@aws-sdk/client-rds-data';
import { type DataApiOptions, startDataApi } from '../../../local/data-api';
import { localClient } from '../../support/aws-client';
import { eventually } from '../../support/eventually';
import { startPostgres } from '../../support/postgres';

export const resourceArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
const secretPrefix = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:';
/** The secret of the superuser. */
export const secretArn = `${secretPrefix}superuser`;

/** The secret of the role of that name, whose password is its name; that of `wrong-…` is wrong. */
export const secretOf = (role: string) => `${secretPrefix}role-${role}`;

export type Fixture = Awaited<ReturnType<typeof startFixture>>;

/** A real PostgreSQL, the Data API in front of it, and the SDK's client without retries. */
export async function startFixture(options: Partial<DataApiOptions> = {}) {
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
  const client = new RDSDataClient(localClient(api.url));
  return {
    postgres,
    api,
    execute: (sql: string, input: Partial<ExecuteStatementCommandInput> = {}) =>
      client.send(new ExecuteStatementCommand({ resourceArn, secretArn, sql, ...input })),
    batch: (sql: string, input: Partial<BatchExecuteStatementCommandInput> = {}) =>
      client.send(new BatchExecuteStatementCommand({ resourceArn, secretArn, sql, ...input })),
    begin: async (input: Partial<BeginTransactionCommandInput> = {}) =>
      String(
        (await client.send(new BeginTransactionCommand({ resourceArn, secretArn, ...input }))).transactionId,
      ),
    commit: async (transactionId: string, input: Partial<CommitTransactionCommandInput> = {}) =>
      (await client.send(new CommitTransactionCommand({ resourceArn, secretArn, transactionId, ...input })))
        .transactionStatus,
    rollback: async (transactionId: string, input: Partial<RollbackTransactionCommandInput> = {}) =>
      (await client.send(new RollbackTransactionCommand({ resourceArn, secretArn, transactionId, ...input })))
        .transactionStatus,
    stop: async () => {
      client.destroy();
      await api.close();
      await postgres.stop();
    },
  };
}

/** How a call was refused: `STATUS NAME: MESSAGE`. */
export const refusalOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'not refused',
    ({ name, message, $metadata }) => `${$metadata.httpStatusCode} ${name}: ${message}`,
  );

/** Waits until PostgreSQL runs a statement that sleeps. */
export function untilAsleep(fixture: Fixture): Promise<void> {
  return eventually(async () => {
    const { records } = await fixture.execute(
      `select 1 from pg_stat_activity where wait_event = 'PgSleep' and state = 'active'`,
    );
    return records?.length !== 0;
  });
}
