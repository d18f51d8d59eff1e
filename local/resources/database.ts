import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import type { Postgres } from '../postgres/postgres';

export interface StackDatabase {
  readonly name: string;
  readonly owner: { readonly username: string; readonly password: string };
}

/**
 * Gives a PostgreSQL what a new Aurora cluster has: the role `rds_iam`, one database, and its owner, who may create
 * roles and databases but is no superuser.
 *
 * Source: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.MasterAccounts.html
 *
 * @returns whether the database is new
 */
export async function ensureDatabase(postgres: Postgres, { name, owner }: StackDatabase): Promise<boolean> {
  const client = new Client({
    host: postgres.host,
    port: postgres.port,
    user: postgres.superuser,
    password: postgres.password,
    database: 'postgres',
    connectionTimeoutMillis: 10_000,
  });
  const isThere = async (query: string, value: string) => (await client.query(query, [value])).rowCount === 1;
  await client.connect();
  try {
    const role = escapeIdentifier(owner.username);
    for (const [missing, statement] of [
      ['rds_iam', 'create role rds_iam nologin'],
      [owner.username, `create role ${role}`],
    ] as const) {
      if (!(await isThere('select from pg_roles where rolname = $1', missing))) await client.query(statement);
    }
    await client.query(
      `alter role ${role} login createdb createrole password ${escapeLiteral(owner.password)}`,
    );
    await client.query(`grant rds_iam to ${role} with admin option, inherit false, set false`);
    if (await isThere('select from pg_database where datname = $1', name)) return false;
    await client.query(`create database ${escapeIdentifier(name)} owner ${role}`);
    return true;
  } finally {
    await client.end();
  }
}
