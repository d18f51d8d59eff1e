import { createHash } from 'node:crypto';
import { DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { fail, ok, type Result } from '../../domain/result';
import { type DatabaseUnavailable, type Row, StatementRefused, type TransactionalDatabase } from './database';
import type { Statement } from './sql';
import { isUnavailable } from './sql-state';

export interface DirectSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Asked for at each new connection: an IAM token lives 15 minutes. */
  readonly password: () => string | Promise<string>;
  /**
   * Milliseconds for one statement to be answered.
   * @default 8,000
   */
  readonly callTimeout?: number;
  /**
   * Connections of one function instance. An instance handles one event at a time.
   * @default 1
   */
  readonly connections?: number;
  /** PEM of the authorities, one of which the server's certificate has to end in. */
  readonly certificateAuthorities: string;
}

const defaultCallTimeout = 8_000;

/**
 * The region's database by PostgreSQL's protocol, over TLS that is verified against the given authorities alone. A lost
 * connection is dropped; the next statement opens a new one.
 */
export function createDirectDatabase(
  settings: DirectSettings,
): TransactionalDatabase & { close(): Promise<void> } {
  const pool = new Pool(poolConfig(settings));
  // An idle connection that the server closed is no failure of anything: the pool has dropped it already.
  pool.on('error', () => undefined);

  return {
    async execute(statement) {
      const once = () => withClient(pool, (client) => run(client, statement));
      const result = await once();
      return isPlanOutdated(result) ? once() : result;
    },
    transaction: (work) => withClient(pool, (client) => inTransaction(client, work)),
    close: () => pool.end(),
  };
}

function poolConfig({
  callTimeout = defaultCallTimeout,
  connections = 1,
  ...settings
}: DirectSettings): PoolConfig {
  return {
    host: settings.host,
    port: settings.port,
    database: settings.database,
    user: settings.user,
    password: settings.password,
    ssl: {
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ca: settings.certificateAuthorities,
    },
    max: connections,
    connectionTimeoutMillis: 5_000,
    query_timeout: callTimeout,
    // The server gives up first: what is reported as failed does not happen afterwards.
    statement_timeout: callTimeout - 1_000,
    // Below the 10 minutes after which the roles' idle sessions are closed, so that we close first.
    idleTimeoutMillis: 5 * 60_000,
    maxLifetimeSeconds: 30 * 60,
    keepAlive: true,
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

/**
 * In PostgreSQL's own form, and prepared under a name when it has values: a connection parses such a statement once, and
 * plans it a few times only, which is most of the deletion's time. One without values may be several commands, which
 * cannot be prepared.
 *
 * @see https://node-postgres.com/features/queries#prepared-statements
 */
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
    if (code === '0A000' && message.startsWith('cached plan must not change'))
      return unavailable(planOutdated);
    if (!isUnavailable(code)) throw new StatementRefused(code, message);
    return unavailable(code.startsWith('57P0') ? 'connection_lost' : `sql_state_${code}`);
  }
  if (/timeout/i.test(message)) return unavailable('timeout');
  if (isConnectionError(code, message)) return unavailable('connection_lost');
  throw error;
}

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason } as const);

/**
 * A migration has changed the type of a column that a prepared statement gives. It was not carried out, and another
 * connection prepares it again. Source: RevalidateCachedQuery in
 * https://github.com/postgres/postgres/blob/REL_17_STABLE/src/backend/utils/cache/plancache.c
 */
const planOutdated = 'plan_outdated';
const isPlanOutdated = (result: Result<unknown, DatabaseUnavailable>): boolean =>
  !result.ok && result.error.reason === planOutdated;

/** What `pg` and the socket say when a connection is refused, lost or cut in the middle of an answer. */
function isConnectionError(code: string | undefined, message: string): boolean {
  return (
    /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(code ?? '') ||
    /connection terminated|connection error|not queryable/i.test(message)
  );
}
