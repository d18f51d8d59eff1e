import pg from 'pg';
import { discardSession, sessionSettings } from './session';

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

/** A connection that is one caller's until it is given back. */
export interface Borrowed {
  readonly client: pg.ClientBase;
  /** Resets the session and keeps the connection for others; one that is broken ends. */
  giveBack(): Promise<void>;
  /** Ends the connection; PostgreSQL rolls its transaction back. */
  end(): void;
}

/**
 * Connections for each target: how many there may be at once, and how many unused ones are kept. Calls wait for one;
 * PostgreSQL alone bounds the transactions, which may be open for hours.
 */
const sizes = {
  calls: { max: 20, kept: 20 },
  transactions: { max: Number.POSITIVE_INFINITY, kept: 5 },
} as const;
/** For a connection, and for a shared one to be free: no call is longer. */
const connectTimeoutMs = 45_000;
/** Time for cancelled statements to end on close; then their connections are cut. */
const cancelMs = 2_000;

/** Connections to PostgreSQL, kept as the service keeps its own: source at `discardSession`. */
export class Connections {
  private readonly pools = new Map<string, pg.Pool>();
  private readonly borrowed = new Map<pg.PoolClient, DatabaseTarget>();
  private readonly used = new WeakSet<pg.ClientBase>();

  /** @param idleMs an unused connection is closed after it */
  constructor(private readonly idleMs = 10_000) {}

  /** Does `work` outside a transaction. */
  async use<T>(target: DatabaseTarget, work: (client: pg.ClientBase) => Work<T>): Promise<T> {
    const { client, giveBack } = await this.borrow(target, 'calls');
    const { answer, free } = work(client);
    void free.then(giveBack);
    return answer;
  }

  /** Begins a transaction. A kept connection that broke meanwhile is replaced. @param onLost called when it breaks */
  async begin(target: DatabaseTarget, onLost: () => void): Promise<Borrowed> {
    for (;;) {
      const connection = await this.borrow(target, 'transactions', onLost);
      const { client } = connection;
      const kept = this.used.has(client);
      this.used.add(client);
      try {
        await client.query('begin');
        return connection;
      } catch (error) {
        connection.end();
        if (!kept) throw error;
      }
    }
  }

  /** Asks PostgreSQL to cancel what `client` does. */
  async cancel(target: DatabaseTarget, client: pg.ClientBase): Promise<void> {
    const canceller = new pg.Client(clientConfig(target));
    await canceller.connect();
    try {
      await canceller.query('select pg_cancel_backend($1)', [processId(client)]);
    } finally {
      await canceller.end();
    }
  }

  /** Ends every connection; running statements are cancelled, and cut off when they ignore it. */
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

  private async borrow(
    target: DatabaseTarget,
    purpose: keyof typeof sizes,
    onLost: () => void = () => {},
  ): Promise<Borrowed> {
    const pool = this.pool(target, purpose);
    const client = await pool.connect();
    // Without a listener, an error on a borrowed connection would end the process.
    const ignore = () => {};
    client.on('error', ignore).on('end', onLost);
    this.borrowed.set(client, target);
    const release = (end: boolean) => {
      if (!this.borrowed.delete(client)) return;
      client.off('error', ignore).off('end', onLost);
      client.release(end);
    };
    return {
      client,
      giveBack: async () => {
        const usable = await discardSession(client);
        release(!usable || pool.idleCount >= sizes[purpose].kept);
      },
      end: () => release(true),
    };
  }

  /** The password is part of the key: nobody gets a connection that another password opened. */
  private pool(target: DatabaseTarget, purpose: keyof typeof sizes): pg.Pool {
    const { host, port, database, user, password } = target;
    const key = JSON.stringify([purpose, host, port, database, user, password]);
    const known = this.pools.get(key);
    if (known) return known;
    const pool = new pg.Pool({
      ...clientConfig(target),
      max: sizes[purpose].max,
      idleTimeoutMillis: this.idleMs,
    });
    // An idle connection broke: the pool has dropped it, and the next call opens another.
    pool.on('error', () => {});
    this.pools.set(key, pool);
    return pool;
  }
}

/** The id that the Data API calls `dbConnectionId`. */
export function processId(client: pg.ClientBase): number {
  return (client as pg.ClientBase & { readonly processID: number }).processID;
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
