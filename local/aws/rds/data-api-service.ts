import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { clientSettings } from '../../postgres/postgres';
import { AwsError, type JsonObject, requireAllowed, requiredText, serveOperations } from '../aws-server';
import { bindParameters, runStatement, toAwsError } from './data-api-statements';

/** A database and the role that connects to it. */
export interface DatabaseLogin {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** The cluster and secret in every call. */
interface Caller {
  readonly resourceArn: string;
  readonly secretArn: string;
}

export interface DataApiOptions {
  /**
   * Finds a request's database: `undefined` for an unknown cluster ARN, `'unknown-secret'` for an unknown secret ARN.
   * The cluster's default database is used if `database` is absent.
   */
  readonly resolve: (
    request: Caller & { readonly database?: string },
  ) => DatabaseLogin | 'unknown-secret' | undefined;
  /** Returns the reason to refuse an action such as `rds-data:ExecuteStatement`. @default - none */
  readonly authorize?: (
    call: Caller & { readonly accessKeyId: string; readonly action: string },
  ) => string | undefined;
  /** Statement timeout in milliseconds. @default 45,000: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-timeouts.html */
  readonly statementMs?: number;
}

/** Milliseconds for which a transaction may be idle: https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_BeginTransaction.html */
const transactionIdleMs = 180_000;
/** Connections per role. Our PostgreSQL allows 300 in total. */
const maxConnections = 20;

/**
 * The RDS Data API in front of real PostgreSQL servers, limited to what we use: one statement with scalar parameters,
 * alone or in a transaction. Errors name anything else as unsupported.
 */
export function createDataApi(options: DataApiOptions) {
  const { resolve, authorize, statementMs = 45_000 } = options;
  const pools = new Map<string, pg.Pool>();
  const inUse = new Set<pg.PoolClient>();
  const transactions = new Map<string, { readonly client: pg.PoolClient; readonly expiry: NodeJS.Timeout }>();

  /** A role's own timeout takes precedence. */
  const limitStatements = `select set_config('statement_timeout', '${statementMs}ms', false)
    where current_setting('statement_timeout') = '0'`;

  async function acquire(request: JsonObject, caller: Caller): Promise<pg.PoolClient> {
    const target = locate(request, caller);
    // The key includes the password: a connection opened with another password is never reused.
    const key = JSON.stringify(target);
    const pool = pools.get(key) ?? openPool(target);
    pools.set(key, pool);
    const client = await pool.connect();
    inUse.add(client);
    return client;
  }

  function locate({ database }: JsonObject, caller: Caller): DatabaseLogin {
    const target = resolve({ ...caller, ...(typeof database === 'string' && { database }) });
    if (target === 'unknown-secret') {
      throw new AwsError('SecretsErrorException', `The secret ${caller.secretArn} wasn't found`);
    }
    if (target) return target;
    const cluster = caller.resourceArn.split(':').at(-1);
    throw new AwsError(
      'HttpEndpointNotEnabledException',
      `HttpEndpoint isn't enabled for cluster ${cluster}`,
    );
  }

  function openPool(target: DatabaseLogin): pg.Pool {
    const pool = new pg.Pool({
      ...clientSettings,
      ...target,
      max: maxConnections,
      connectionTimeoutMillis: statementMs,
      // Later than PostgreSQL's own timeout; for a server that does not respond.
      query_timeout: statementMs + 5_000,
      onConnect: (client) => client.query(limitStatements) as unknown as undefined,
    });
    // The pool drops a lost connection; without listeners, the error would crash this process.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  }

  /**
   * Resets the session, as at AWS: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.session-management.html
   * Fails within a transaction; the connection then closes, which rolls it back.
   */
  async function release(client: pg.PoolClient): Promise<void> {
    try {
      for (const reset of ['discard all', limitStatements]) await client.query(reset);
      client.release();
    } catch {
      client.release(true);
    }
    inUse.delete(client);
  }

  /** A transaction is bound to the cluster and secret that began it. */
  const keyOf = (transactionId: string, { resourceArn, secretArn }: Caller): string =>
    JSON.stringify([transactionId, resourceArn, secretArn]);

  function continueTransaction(key: string): pg.PoolClient {
    const transaction = transactions.get(key);
    if (!transaction) throw notFound('It has ended, or was idle for three minutes.');
    transaction.expiry.refresh();
    return transaction.client;
  }

  function end(key: string): void {
    const transaction = transactions.get(key);
    transactions.delete(key);
    clearTimeout(transaction?.expiry);
    if (transaction) void release(transaction.client);
  }

  async function execute(request: JsonObject, caller: Caller): Promise<JsonObject> {
    const statement = bindParameters(requiredText(request, 'sql'), request.parameters ?? []);
    const run = (client: pg.PoolClient) =>
      runStatement(client, statement, request.includeResultMetadata === true);
    if (request.transactionId) return run(continueTransaction(keyOf(String(request.transactionId), caller)));
    const client = await acquire(request, caller);
    return run(client).finally(() => void release(client));
  }

  async function begin(request: JsonObject, caller: Caller): Promise<JsonObject> {
    const transactionId = randomBytes(48).toString('base64');
    const key = keyOf(transactionId, caller);
    const client = await acquire(request, caller);
    transactions.set(key, { client, expiry: setTimeout(() => end(key), transactionIdleMs).unref() });
    await client.query('begin').catch((error) => {
      end(key);
      throw error;
    });
    return { transactionId };
  }

  // https://docs.aws.amazon.com/cli/latest/reference/rds-data/commit-transaction.html shows the status.
  const endBy =
    (statement: string, transactionStatus: string) => async (request: JsonObject, caller: Caller) => {
      const key = keyOf(requiredText(request, 'transactionId'), caller);
      const { command } = await continueTransaction(key)
        .query(statement)
        .finally(() => end(key));
      if (command.toLowerCase() === statement) return { transactionStatus };
      // PostgreSQL rolls a failed transaction back: https://www.postgresql.org/docs/17/sql-commit.html
      throw notFound('An error of a previous call has aborted it.');
    };

  /** @param members that are supported, in addition to those of every call */
  function operation(
    name: string,
    members: readonly string[],
    run: (request: JsonObject, caller: Caller) => Promise<JsonObject>,
  ) {
    return async (request: JsonObject, accessKeyId: string) => {
      const resourceArn = requiredText(request, 'resourceArn');
      const caller = { resourceArn, secretArn: requiredText(request, 'secretArn') };
      requireAllowed(authorize?.({ ...caller, accessKeyId, action: `rds-data:${name}` }));
      const isKnown = (member: string) => member in caller || members.includes(member);
      const unknown = Object.keys(request).find((member) => request[member] !== null && !isKnown(member));
      if (unknown) throw new AwsError('ValidationException', `${unknown} of ${name} is not supported`);
      const started = performance.now();
      return run(request, caller).catch((error) => {
        throw toAwsError(error, performance.now() - started >= statementMs);
      });
    };
  }

  const executeMembers = ['database', 'sql', 'parameters', 'includeResultMetadata', 'transactionId'];
  const commit = endBy('commit', 'Transaction Committed');
  const rollback = endBy('rollback', 'Rollback Complete');
  return {
    serve: serveOperations({
      '/Execute': operation('ExecuteStatement', executeMembers, execute),
      '/BeginTransaction': operation('BeginTransaction', ['database'], begin),
      '/CommitTransaction': operation('CommitTransaction', ['transactionId'], commit),
      '/RollbackTransaction': operation('RollbackTransaction', ['transactionId'], rollback),
    }),
    /** Closes all connections, which aborts open transactions and running statements. */
    async close(): Promise<void> {
      for (const key of transactions.keys()) end(key);
      for (const client of inUse) void client.end();
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.troubleshooting.html */
const notFound = (reason: string) =>
  new AwsError('TransactionNotFoundException', `The transaction isn't found. ${reason}`, 404);
