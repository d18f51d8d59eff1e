import pg from 'pg';

/** A database and the role that signs in to it. */
export interface DatabaseTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/**
 * Finds the database of a request: `undefined` when no cluster has this ARN, `'unknown-secret'` when no secret has.
 * Without `database` in the request it is the cluster's default database.
 */
export type Resolve = (request: {
  readonly resourceArn: string;
  readonly secretArn: string;
  readonly database?: string;
}) => MaybePromise<DatabaseTarget | 'unknown-secret' | undefined>;

type MaybePromise<T> = T | Promise<T>;

/** A call on a connection: its answer, and when the connection is free again. */
export interface Work<T> {
  readonly answer: Promise<T>;
  readonly free: Promise<void>;
}

/** Connections that calls outside transactions share, for each target. Those of transactions are not among them. */
const sharedConnections = 20;
/** For a connection, and for a shared one to be free: no call is longer. */
const connectTimeoutMs = 45_000;
/** Time for cancelled statements to end on close; then their connections are cut. */
const cancelMs = 2_000;

/**
 * Settings that every session begins with, whatever the role's or the database's are: the Data API gives times in UTC
 * (https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-operations.html), and values are read as text.
 */
const sessionSettings = '-c TimeZone=UTC -c DateStyle=ISO -c extra_float_digits=1';

/** Connections to PostgreSQL: shared ones for single calls, own ones for transactions. */
export class Connections {
  private readonly pools = new Map<string, pg.Pool>();
  private readonly borrowed = new Map<pg.PoolClient, DatabaseTarget>();

  /** Does `work` on a shared connection. Session state that it leaves behind is discarded. */
  async use<T>(target: DatabaseTarget, work: (client: pg.ClientBase) => Work<T>): Promise<T> {
    const client = await this.pool(target).connect();
    // Without a listener, an error on a borrowed connection would end the process.
    const ignore = () => {};
    client.on('error', ignore);
    this.borrowed.set(client, target);
    const { answer, free } = work(client);
    void free.then(() => this.giveBack(client, ignore));
    return answer;
  }

  /** A connection that is not shared, and that the caller ends. */
  async open(target: DatabaseTarget): Promise<pg.Client> {
    const client = new pg.Client(clientConfig(target));
    await client.connect();
    return client;
  }

  /** Asks PostgreSQL to cancel what `client` does. */
  async cancel(target: DatabaseTarget, client: pg.ClientBase): Promise<void> {
    const canceller = await this.open(target);
    try {
      await canceller.query('select pg_cancel_backend($1)', [processId(client)]);
    } finally {
      await canceller.end();
    }
  }

  /** Ends every shared connection; running statements are cancelled, and cut off when they ignore it. */
  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    const ended = pools.map((pool) => pool.end());
    const deadline = setTimeout(() => this.cutOff(), cancelMs);
    await Promise.allSettled([...this.borrowed].map(([client, target]) => this.cancel(target, client)));
    await Promise.all(ended);
    clearTimeout(deadline);
  }

  /** `pg` breaks a connection that is ended while it is at work. */
  private cutOff(): void {
    for (const client of this.borrowed.keys()) void (client as pg.PoolClient & pg.Client).end();
  }

  private pool(target: DatabaseTarget): pg.Pool {
    const key = JSON.stringify([target.host, target.port, target.database, target.user, target.password]);
    const known = this.pools.get(key);
    if (known) return known;
    const pool = new pg.Pool({ ...clientConfig(target), max: sharedConnections });
    // An idle connection broke: the pool has dropped it, and the next call opens another.
    pool.on('error', () => {});
    this.pools.set(key, pool);
    return pool;
  }

  private async giveBack(client: pg.PoolClient, listener: () => void): Promise<void> {
    const usable = await discardSession(client);
    this.borrowed.delete(client);
    client.off('error', listener);
    client.release(!usable);
  }
}

/** The id that the Data API calls `dbConnectionId`. */
export function processId(client: pg.ClientBase): number {
  return (client as pg.ClientBase & { readonly processID: number }).processID;
}

/**
 * `DISCARD ALL`, in its documented equivalents, without `DISCARD PLANS`: plans are no state that a caller could see, and
 * those of foreign keys would have to be made again for each call. https://www.postgresql.org/docs/17/sql-discard.html
 */
const discardAllButPlans = `
  close all; set session authorization default; reset all; deallocate all; unlisten *;
  select pg_advisory_unlock_all(); discard temp; discard sequences`;

async function discardSession(client: pg.ClientBase): Promise<boolean> {
  try {
    if (client.getTransactionStatus() !== 'I') await client.query('rollback');
    await client.query(discardAllButPlans);
    return true;
  } catch {
    return false;
  }
}

function clientConfig(target: DatabaseTarget): pg.ClientConfig {
  const { host, port, user, password, database } = target;
  return {
    host,
    port,
    user,
    password,
    database,
    options: sessionSettings,
    application_name: 'rds-data-api',
    connectionTimeoutMillis: connectTimeoutMs,
  };
}
