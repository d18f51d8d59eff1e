import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Signer } from '@aws-sdk/rds-signer';
import { DatabaseError, Pool, type PoolClient, type QueryConfig } from 'pg';
import { fail, ok, type Result } from '../../domain/result';
import { timeouts } from '../shared/timeouts';
import { readVariables } from '../shared/variables';
import {
  type ClosableDatabase,
  type Database,
  type DatabaseUnavailable,
  isUnavailable,
  type Owner,
  type Row,
  type Statement,
  StatementRefused,
  type TransactionalDatabase,
} from './database';
import { databaseVariables, locationVariables } from './variables';

/** The database as a function's role, with IAM tokens that are signed locally with its credentials. */
export function connectDatabase(variables: NodeJS.ProcessEnv): Database {
  const { DATABASE_USER: username } = readVariables(databaseVariables.direct, variables);
  const location = readLocation(variables);
  const signer = new Signer({ hostname: location.host, port: location.port, username });
  return createDirectDatabase({ ...location, user: username, password: () => signer.getAuthToken() });
}

export async function connectAsOwner(
  variables: NodeJS.ProcessEnv,
  { secretArn, readSecret }: Owner,
): Promise<ClosableDatabase> {
  const { username, password } = await readSecret(secretArn);
  // Milliseconds for one migration file: below the function's timeout.
  const callTimeout = 10 * 60_000;
  return createDirectDatabase({
    ...readLocation(variables),
    user: username,
    password: () => password,
    callTimeout,
  });
}

function readLocation(variables: NodeJS.ProcessEnv) {
  const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_CERTIFICATE_AUTHORITIES } = readVariables(
    locationVariables.direct,
    variables,
  );
  return {
    host: DATABASE_HOST,
    port: Number(DATABASE_PORT),
    database: DATABASE_NAME,
    certificateAuthorities: readFileSync(resolve(__dirname, DATABASE_CERTIFICATE_AUTHORITIES), 'utf8'),
  };
}

interface DirectSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Called for each new connection: an IAM token is valid for 15 minutes. */
  readonly password: () => string | Promise<string>;
  /** Timeout of one statement, in milliseconds. @default 8,000 */
  readonly callTimeout?: number;
  /** PEM of the trusted authorities of the server's certificate. */
  readonly certificateAuthorities: string;
}

/** Trusts only the given certificate authorities. Drops a lost connection; the next statement opens a new one. */
export function createDirectDatabase({
  certificateAuthorities,
  callTimeout = timeouts.database.statement,
  ...settings
}: DirectSettings): TransactionalDatabase & { close(): Promise<void> } {
  const pool = new Pool({
    ...settings,
    ssl: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ca: certificateAuthorities },
    // An instance handles one event at a time.
    max: 1,
    connectionTimeoutMillis: timeouts.database.connection,
    query_timeout: callTimeout,
    // The server times out first: a statement that we report as failed is not executed later.
    statement_timeout: callTimeout - 1_000,
    // Below the roles' idle_session_timeout of 10 minutes, so that we close first.
    idleTimeoutMillis: 5 * 60_000,
    maxLifetimeSeconds: 30 * 60,
    keepAlive: true,
  });
  // The server may close an idle connection; the pool drops it by itself.
  pool.on('error', () => undefined);

  return {
    execute: (statement) => withClient(pool, (client) => run(client, statement)),
    transaction: (work) => withClient(pool, (client) => inTransaction(client, work)),
    close: () => pool.end(),
  };
}

async function withClient<T, E>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result<T, E | DatabaseUnavailable>>,
): Promise<Result<T, E | DatabaseUnavailable>> {
  let client: PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    return unavailableOrThrow(error);
  }
  const ignore = () => undefined;
  client.on('error', ignore);
  let broken = true;
  try {
    const result = await work(client);
    broken = !result.ok && (result.error as DatabaseUnavailable).kind === 'database_unavailable';
    return result;
  } catch (error) {
    broken = !(error instanceof StatementRefused);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

async function run(
  client: PoolClient,
  statement: Statement,
): Promise<Result<readonly Row[], DatabaseUnavailable>> {
  try {
    const result = await client.query<Row>(toQuery(statement));
    return ok(result.rows);
  } catch (error) {
    return unavailableOrThrow(error);
  }
}

// A prepared statement is parsed once and planned a few times, which saves most of the deletion's time. A text without values
// may contain several commands, which cannot be prepared: https://node-postgres.com/features/queries#prepared-statements
export function toQuery({ text, values }: Statement): QueryConfig {
  const rendered = text.reduce((sql, part, index) => `${sql}$${index}${part}`);
  if (values.length === 0) return { text: rendered };
  const name = createHash('sha256').update(rendered).digest('base64url');
  return { name, text: rendered, values: [...values] };
}

async function inTransaction<T, E>(
  client: PoolClient,
  work: Parameters<TransactionalDatabase['transaction']>[0],
): Promise<Result<T, E | DatabaseUnavailable>> {
  const command = (text: string) => run(client, { text: [text], values: [] });
  const begun = await command('begin');
  if (!begun.ok) return begun;
  try {
    const outcome = (await work({ execute: (statement) => run(client, statement) })) as Result<T, E>;
    const ended = await command(outcome.ok ? 'commit' : 'rollback');
    return ended.ok ? outcome : ended;
  } catch (error) {
    await command('rollback');
    throw error;
  }
}

function unavailableOrThrow(error: unknown): Result<never, DatabaseUnavailable> {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (error instanceof DatabaseError && code) {
    // A migration changed the type of a column that a prepared statement returns: another connection prepares it again.
    if (code === '0A000' && message.startsWith('cached plan')) return unavailable('connection_lost');
    if (!isUnavailable(code)) throw new StatementRefused(code, message);
    return unavailable(code.startsWith('57P0') ? 'connection_lost' : `sql_state_${code}`);
  }
  if (/timeout/i.test(message)) return unavailable('timeout');
  if (isConnectionError(code, message)) return unavailable('connection_lost');
  throw error;
}

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason } as const);

/** Errors of `pg` and the socket for a connection that is refused, lost or cut in the middle of a response. */
function isConnectionError(code: string | undefined, message: string): boolean {
  return (
    /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(code ?? '') ||
    /connection terminated|connection error|not queryable/i.test(message)
  );
}
