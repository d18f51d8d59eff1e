import { createHash } from 'node:crypto';
import { fail, ok, type Result } from '../../domain/result';
import {
  type Database,
  type DatabaseUnavailable,
  type Statement,
  StatementRefused,
  sql,
  type TransactionalDatabase,
} from '../database/database';
import type { Migration } from '../database/migrations';

/** A database role to create. Without a password it signs in with IAM tokens. */
export interface Role {
  readonly name: string;
  readonly password?: string;
}

/** The message says what to do. */
export type MigrationFailed =
  | { readonly kind: 'migration_failed'; readonly message: string }
  | DatabaseUnavailable;

const failed = (name: string, what: string) =>
  fail({ kind: 'migration_failed', message: `Migration ${name} ${what}` } as const);

/**
 * Creates the roles, then applies each pending file in a transaction of its own; a lock serializes concurrent migrations. Does
 * not change a database with more files than this code: the code was rolled back. @returns the files that were applied
 */
export async function migrateSchema(
  database: TransactionalDatabase,
  migrations: readonly Migration[],
  roles: readonly Role[],
): Promise<Result<readonly string[], MigrationFailed>> {
  const prepared = await database.transaction((transaction) =>
    runAll(transaction, [lock, createHistory, closeToPublic, ...roles.flatMap(ensureRole)]),
  );
  if (!prepared.ok) return prepared;
  const applied: string[] = [];
  for (const migration of migrations) {
    const result = await applyOnce(database, migration);
    if (!result.ok) return result;
    if (result.value) applied.push(migration.name);
  }
  return ok(applied);
}

async function runAll(
  database: Database,
  statements: readonly Statement[],
): Promise<Result<null, DatabaseUnavailable>> {
  for (const statement of statements) {
    const result = await database.execute(statement);
    if (!result.ok) return result;
  }
  return ok(null);
}

/** @returns whether it was applied now */
async function applyOnce(
  database: TransactionalDatabase,
  migration: Migration,
): Promise<Result<boolean, MigrationFailed>> {
  const { name } = migration;
  const text = migration.text.replaceAll('\r\n', '\n');
  const checksum = checksumOf(text);
  // A deployment from a clone with Windows' line ends has recorded theirs.
  const known = [checksum, checksumOf(text.replaceAll('\n', '\r\n'))];
  try {
    return await database.transaction<boolean, MigrationFailed>(async (transaction) => {
      const locked = await transaction.execute(lock);
      if (!locked.ok) return locked;
      const recorded = await transaction.execute(
        sql`select checksum from schema_migrations where name = ${name}`,
      );
      if (!recorded.ok) return recorded;
      const [previous] = recorded.value;
      if (previous && known.includes(String(previous.checksum))) return ok(false);
      if (previous)
        return failed(
          name,
          'was applied before and has been edited since. Restore the file and write a new one.',
        );
      // The Data API takes one statement a call: a file becomes the body of one anonymous block.
      const block = { text: [`do $migration$\nbegin\n${text}\nend\n$migration$`], values: [] };
      const applied = await transaction.execute(block);
      if (!applied.ok) return hasTimedOut(applied.error) ? failed(name, tooSlow) : applied;
      const inserted = await transaction.execute(
        sql`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`,
      );
      return inserted.ok ? ok(true) : inserted;
    });
  } catch (error) {
    if (!(error instanceof StatementRefused)) throw error;
    return failed(name, `failed and was rolled back: ${error.message} (SQLSTATE ${error.sqlState}).`);
  }
}

const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Whether the client or PostgreSQL gave up waiting. A retry would time out again. */
const hasTimedOut = ({ reason }: DatabaseUnavailable): boolean =>
  reason === 'timeout' || reason === 'sql_state_57014';

const tooSlow =
  'exceeded the time limit of a file and was rolled back. Split it; files that were applied stay applied.';

/** An arbitrary lock id that nothing else in this database uses. */
const lock = sql`select pg_advisory_xact_lock(4203501)::text`;

const createHistory = sql`
  create table if not exists schema_migrations (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`;

/** PostgreSQL lets every role connect and create temporary tables unless told otherwise. */
const closeToPublic = sql`
  do $migration$
  begin
    execute format('revoke all on database %I from public', current_database());
  end
  $migration$`;

/**
 * Role names and passwords cannot be bound in `create role`: they are bound as settings of the transaction, and quoted by the
 * server. The statement_timeout is below the function's (8 s), so that what is reported as failed seldom succeeds later.
 *
 * Idle sessions time out only where functions hold them: the Data API would reuse a closed session of its pool.
 * https://www.postgresql.org/docs/17/runtime-config-client.html#GUC-IDLE-SESSION-TIMEOUT
 *
 * A role that holds `rds_iam` cannot sign in with a password.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.DBAccounts.html
 */
function ensureRole({ name, password }: Role): readonly Statement[] {
  return [
    sql`
      select set_config('migration.role', ${name}, true) as role,
        set_config('migration.password', ${password ?? ''}, true) as password`,
    sql`
      do $migration$
      declare
        role_name constant text := current_setting('migration.role');
        role_password constant text := current_setting('migration.password');
      begin
        if not exists (select from pg_roles where rolname = role_name) then
          execute format('create role %I login', role_name);
        end if;
        execute format('grant connect on database %I to %I', current_database(), role_name);
        execute format('alter role %I set statement_timeout = ''7s''', role_name);
        execute format('alter role %I set idle_in_transaction_session_timeout = ''10s''', role_name);
        if role_password = '' then
          execute format('alter role %I password null', role_name);
          execute format('grant rds_iam to %I', role_name);
          execute format('alter role %I set idle_session_timeout = ''10min''', role_name);
        else
          execute format('alter role %I reset idle_session_timeout', role_name);
          execute format('alter role %I password %L', role_name, role_password);
          if exists (select from pg_roles where rolname = 'rds_iam') then
            execute format('revoke rds_iam from %I', role_name);
          end if;
        end if;
      end
      $migration$`,
  ];
}
