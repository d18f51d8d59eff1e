import { DatabaseError, Pool, type PoolClient } from 'pg';
import { type Database, StatementRefused, type TransactionalDatabase } from '../../lambda/database/database';
import { type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { migrations } from '../../lambda/database/migrations';
import type { Statement } from '../../lambda/database/sql';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import { ok } from '../../lambda/shared/result';
import { startPostgres } from './postgres';

/** A real PostgreSQL with the schema and the roles of the product. */
export interface MigratedDatabase {
  /** Signed in as the schema's owner. */
  readonly owner: Database;
  /** Signed in as a function's role. */
  as(role: DatabaseRole): Database;
  stop(): Promise<void>;
}

const password = 'test';

export async function startMigratedDatabase(): Promise<MigratedDatabase> {
  const postgres = await startPostgres();
  const pools: Pool[] = [];
  const signIn = (user: string, secret: string) => {
    const { host, port, database } = postgres;
    const pool = new Pool({ host, port, database, user, password: secret, max: 4 });
    // A pool that has ended may still hear of PostgreSQL's end.
    pool.on('error', () => undefined);
    pools.push(pool);
    return connect(pool);
  };
  const owner = signIn(postgres.superuser, postgres.password);
  const migrated = await migrateSchema(
    owner,
    migrations,
    databaseRoles.map((name) => ({ name, password })),
  );
  if (!migrated.ok) throw new Error(JSON.stringify(migrated.error));

  return {
    owner,
    as: (role) => signIn(role, password),
    async stop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await postgres.stop();
    },
  };
}

function connect(pool: Pool): TransactionalDatabase {
  return {
    execute: (statement) => run(pool, statement),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        const outcome = await work({ execute: (statement) => run(client, statement) });
        await client.query(outcome.ok ? 'commit' : 'rollback');
        return outcome;
      } finally {
        client.release();
      }
    },
  };
}

async function run(client: Pool | PoolClient, { text, values }: Statement): ReturnType<Database['execute']> {
  try {
    const rendered = text.reduce((statement, part, index) => `${statement}$${index}${part}`);
    return ok((await client.query(rendered, [...values])).rows);
  } catch (error) {
    if (error instanceof DatabaseError) throw new StatementRefused(error.code ?? '', error.message);
    throw error;
  }
}
