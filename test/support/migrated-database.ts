import { Client, DatabaseError } from 'pg';
import { type Database, StatementRefused, type TransactionalDatabase } from '../../lambda/database/database';
import { type DatabaseRole, databaseRoles } from '../../lambda/database/environment';
import { migrations } from '../../lambda/database/migrations';
import { migrateSchema } from '../../lambda/migrate-schema/migrate-schema';
import { ok } from '../../lambda/shared/result';
import { startPostgres } from './postgres';

/** A real PostgreSQL with the schema and the roles of the product. */
export interface MigratedDatabase {
  /** Signed in as the schema's owner. */
  readonly owner: Database;
  /** Signed in as a function's role. */
  as(role: DatabaseRole): Promise<Database>;
  stop(): Promise<void>;
}

const password = 'test';

export async function startMigratedDatabase(): Promise<MigratedDatabase> {
  const postgres = await startPostgres();
  const clients: Client[] = [];
  const signIn = async (user: string, secret: string) => {
    const { host, port, database } = postgres;
    const client = new Client({ host, port, database, user, password: secret });
    await client.connect();
    clients.push(client);
    return connect(client);
  };
  const owner = await signIn(postgres.superuser, postgres.password);
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
      await Promise.all(clients.map((client) => client.end()));
      await postgres.stop();
    },
  };
}

function connect(client: Client): TransactionalDatabase {
  const execute: Database['execute'] = async ({ text, values }) => {
    try {
      const rendered = text.reduce((statement, part, index) => `${statement}$${index}${part}`);
      return ok((await client.query(rendered, [...values])).rows);
    } catch (error) {
      if (error instanceof DatabaseError) throw new StatementRefused(error.code ?? '', error.message);
      throw error;
    }
  };
  return {
    execute,
    async transaction(work) {
      await client.query('begin');
      const outcome = await work({ execute });
      await client.query(outcome.ok ? 'commit' : 'rollback');
      return outcome;
    },
  };
}
