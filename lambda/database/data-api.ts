import { setTimeout as sleep } from 'node:timers/promises';
import {
  BeginTransactionCommand,
  CommitTransactionCommand,
  ExecuteStatementCommand,
  type Field,
  RDSDataClient,
  RollbackTransactionCommand,
  type SqlParameter,
} from '@aws-sdk/client-rds-data';
import { fail, ok, type Result } from '../../domain/result';
import { timeouts } from '../shared/timeouts';
import { readVariables } from '../shared/variables';
import {
  type ClosableDatabase,
  type Database,
  type DatabaseUnavailable,
  isUnavailable,
  type Owner,
  type Parameter,
  type Row,
  type Statement,
  StatementRefused,
  type TransactionalDatabase,
} from './database';
import { databaseVariables, locationVariables } from './variables';

/** The database as a function's role, whose password the Data API reads from the role's secret. */
export function connectDatabase(
  variables: NodeJS.ProcessEnv,
  waiting: Pick<DataApiSettings, 'resumeTimeout'> = {},
): Database {
  const names = readVariables(databaseVariables['data-api'], variables);
  const [clusterArn, secretArn] = [names.DATABASE_CLUSTER_ARN, names.DATABASE_SECRET_ARN];
  return createDataApiDatabase({ clusterArn, secretArn, database: names.DATABASE_NAME, ...waiting });
}

/** Signed in as the schema's owner. */
export async function connectAsOwner(
  variables: NodeJS.ProcessEnv,
  { secretArn }: Owner,
): Promise<ClosableDatabase> {
  const names = readVariables(locationVariables['data-api'], variables);
  return createDataApiDatabase({
    clusterArn: names.DATABASE_CLUSTER_ARN,
    secretArn,
    database: names.DATABASE_NAME,
    // The Data API itself cancels a statement after 45 s:
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-timeouts.html
    callTimeout: 60_000,
    resumeTimeout: 120_000,
  });
}

export interface DataApiSettings {
  readonly clusterArn: string;
  /** The secret of the database role to sign in as. */
  readonly secretArn: string;
  readonly database: string;
  /** Milliseconds to wait for a paused cluster to resume; the gateway gives up after 29 s. @default 20,000 */
  readonly resumeTimeout?: number;
  /** Timeout of one call, in milliseconds. @default 8,000 */
  readonly callTimeout?: number;
}

/** Milliseconds between calls while a paused cluster resumes. */
const resumePause = 500;

// No retries by the SDK: a call that timed out may have succeeded. A statement sent to a paused cluster was not executed:
// https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.html
export function createDataApiDatabase(
  settings: DataApiSettings,
  client = new RDSDataClient({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: settings.callTimeout ?? timeouts.database.statement,
      throwOnRequestTimeout: true,
    },
  }),
): TransactionalDatabase {
  const target = { resourceArn: settings.clusterArn, secretArn: settings.secretArn };

  const run = async (statement: Statement, transactionId?: string): Promise<readonly Row[]> => {
    const { text, parameters } = render(statement);
    const result = await client.send(
      new ExecuteStatementCommand({
        ...target,
        database: settings.database,
        sql: text,
        parameters,
        includeResultMetadata: true,
        transactionId,
      }),
    );
    const names = result.columnMetadata?.map(({ label }) => label ?? '') ?? [];
    return (result.records ?? []).map((fields) =>
      Object.fromEntries(fields.map((field, index) => [names[index], column(field)])),
    );
  };

  const withResume = async <T>(call: () => Promise<T>): Promise<Result<T, DatabaseUnavailable>> => {
    const deadline = Date.now() + (settings.resumeTimeout ?? 20_000);
    for (;;) {
      const result = await toResult(call);
      const isOver = Date.now() + resumePause > deadline;
      if (result.ok || result.error.reason !== 'resuming' || isOver) return result;
      await sleep(resumePause);
    }
  };

  return {
    execute: (statement) => withResume(() => run(statement)),

    async transaction(work) {
      const begun = await withResume(() =>
        client.send(new BeginTransactionCommand({ ...target, database: settings.database })),
      );
      if (!begun.ok) return begun;
      const { transactionId } = begun.value;
      // The Data API itself rolls a transaction back after three minutes without a call: data-api.html.
      const rollBack = () =>
        client.send(new RollbackTransactionCommand({ ...target, transactionId })).catch(() => undefined);
      try {
        const outcome = await work({ execute: (statement) => toResult(() => run(statement, transactionId)) });
        if (outcome.ok) {
          const commit = new CommitTransactionCommand({ ...target, transactionId });
          const committed = await toResult(() => client.send(commit));
          return committed.ok ? outcome : committed;
        }
        await rollBack();
        return outcome;
      } catch (error) {
        await rollBack();
        throw error;
      }
    },
  };
}

/** The Data API's syntax: `:p1`, with the values separate. */
function render({ text, values }: Statement): { text: string; parameters: SqlParameter[] } {
  return {
    text: text.reduce((rendered, part, index) => `${rendered}:p${index}${part}`),
    parameters: values.map((value, index) => ({ name: `p${index + 1}`, value: field(value) })),
  };
}

function column(field: Field): Row[string] {
  if (field.isNull) return null;
  const value = field.stringValue ?? field.longValue ?? field.booleanValue ?? field.doubleValue;
  if (value === undefined) throw new Error('A column is of a type that the statement must cast to text.');
  return value;
}

function field(value: Parameter): NonNullable<SqlParameter['value']> {
  if (value === null) return { isNull: true };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { booleanValue: value };
  return Number.isInteger(value) ? { longValue: value } : { doubleValue: value };
}

async function toResult<T>(call: () => Promise<T>): Promise<Result<T, DatabaseUnavailable>> {
  try {
    return ok(await call());
  } catch (error) {
    const reason = unavailability(error);
    if (reason) return fail({ kind: 'database_unavailable', reason });
    const state = sqlState(error);
    throw state ? new StatementRefused(state, (error as Error).message) : error;
  }
}

function unavailability(error: unknown): string | undefined {
  const { name = '', code, message, $metadata } = error as Partial<SdkError>;
  // Before the names: the SDK reports a reset connection as a timeout.
  if (connectionErrors.test(`${code} ${message}`)) return 'connection_lost';
  const named = temporaryErrors[name];
  if (named) return named;
  const state = sqlState(error);
  if (state) return isUnavailable(state) ? `sql_state_${state}` : undefined;
  // Also of a proxy, which may return an HTML page or an empty body.
  const status = $metadata?.httpStatusCode ?? 0;
  return status === 429 || status >= 500 ? `http_${status}` : undefined;
}

interface SdkError extends Error {
  readonly code: string;
  readonly $metadata: { readonly httpStatusCode?: number };
}

const connectionErrors = /\b(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b|socket hang up/;

/** Reasons by the names of errors, which may have the status 400. */
const temporaryErrors: Readonly<Record<string, string>> = {
  DatabaseResumingException: 'resuming',
  SecretsErrorException: 'secret_unreadable',
  StatementTimeoutException: 'timeout',
  ThrottlingException: 'throttled',
  TimeoutError: 'timeout',
};

/** The Data API puts PostgreSQL's code into the message: `ERROR: …; SQLState: 42501`. */
const sqlState = (error: unknown) => /SQLState: ([0-9A-Z]{5})/.exec((error as Error).message)?.[1];
