import pg from 'pg';

/** A database and the role that signs in to it. */
export interface DatabaseTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** A connection that is one caller's until it is given back. */
export interface Borrowed {
  readonly client: pg.ClientBase;
  /** Rolls back, resets the session and keeps the connection for others. */
  giveBack(): Promise<void>;
}

/** For each role. PostgreSQL here has 300 for all. */
const maxConnections = 20;

/** Connections to PostgreSQL, kept for the next call as the service keeps its own. */
export class Connections {
  private readonly pools = new Map<string, pg.Pool>();
  private readonly borrowed = new Set<pg.PoolClient>();

  /** @param statementMs how long a statement may take when its role has no limit of its own */
  constructor(private readonly statementMs: number) {}

  /** @param onLost called when the connection breaks */
  async borrow(target: DatabaseTarget, onLost = () => {}): Promise<Borrowed> {
    const client = await this.pool(target).connect();
    this.borrowed.add(client);
    client.on('error', onLost);
    const release = (broken: boolean) => {
      client.off('error', onLost);
      if (this.borrowed.delete(client)) client.release(broken);
    };
    return {
      client,
      giveBack: () =>
        client.query(`rollback; ${this.resetSession}`).then(
          () => release(false),
          () => release(true),
        ),
    };
  }

  /** Ends every connection, those at work as well. */
  async close(): Promise<void> {
    for (const client of this.borrowed) client.release(true);
    this.borrowed.clear();
    await Promise.all([...this.pools.values()].map((pool) => pool.end()));
  }

  /** The password is part of the key: nobody gets a connection that another password opened. */
  private pool(target: DatabaseTarget): pg.Pool {
    const { host, port, database, user, password } = target;
    const key = JSON.stringify([host, port, database, user, password]);
    const known = this.pools.get(key);
    if (known) return known;
    const pool = new pg.Pool({
      ...{ host, port, database, user, password },
      options: '-c TimeZone=UTC',
      application_name: 'rds-data-api',
      max: maxConnections,
      connectionTimeoutMillis: this.statementMs,
      // PostgreSQL's own limit is earlier; this is for one that no longer answers.
      query_timeout: this.statementMs + 5_000,
      onConnect: (client) => client.query(this.resetSession) as unknown as undefined,
    });
    // An idle connection broke: the pool has dropped it, and the next call opens another.
    pool.on('error', () => {});
    this.pools.set(key, pool);
    return pool;
  }

  /**
   * `DISCARD ALL`, which the service runs before it uses a connection again
   * (https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.session-management.html), in its documented
   * equivalents (https://www.postgresql.org/docs/17/sql-discard.html) without the plans, which no caller can see.
   */
  private get resetSession(): string {
    return `
      close all; set session authorization default; reset all; deallocate all; unlisten *;
      select pg_advisory_unlock_all(); discard temp; discard sequences;
      select set_config('statement_timeout', '${this.statementMs}ms', false)
       where current_setting('statement_timeout') = '0'`;
  }
}
