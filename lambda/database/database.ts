import type { Result } from '../../domain/result';

/** A value that can be bound to a statement. Times, numerics and JSON travel as text and are cast in the SQL. */
export type Parameter = string | number | boolean | null;

/** One SQL statement with its bound values: `text[0] values[0] text[1] values[1] … text[n]`. */
export interface Statement {
  readonly text: readonly string[];
  readonly values: readonly Parameter[];
}

/**
 * Writes a statement: sql`select name from user_groups where user_group_id = ${id}`. Every `${}` becomes a bound
 * parameter, so nothing that a caller sends can become SQL.
 */
export function sql(text: TemplateStringsArray, ...values: Parameter[]): Statement {
  return { text: [...text], values };
}

/** Columns: cast 64-bit integers beyond 2^53, numerics and times to text in the SQL. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The database cannot be reached, is waking, failed over, or did not answer in time. The statement may have been
 * carried out all the same: send only what is idempotent again.
 */
export interface DatabaseUnavailable {
  readonly kind: 'database_unavailable';
  /** For the log: what happened, without values of the statement. */
  readonly reason: string;
}

/** The region's database, as its handlers see it. Implemented by `data-api.ts` and `direct.ts`. */
export interface Database {
  /**
   * Carries out one statement, atomically, in one round trip.
   *
   * @throws StatementRefused when PostgreSQL refuses the statement: a bug, or a missing grant.
   */
  execute(statement: Statement): Promise<Result<readonly Row[], DatabaseUnavailable>>;
}

/** A database that can also carry out several statements as one; for migrations. */
export interface TransactionalDatabase extends Database {
  /** Commits when `work` returns ok; rolls back when it fails or throws. */
  transaction<T, E>(
    work: (database: Database) => Promise<Result<T, E>>,
  ): Promise<Result<T, E | DatabaseUnavailable>>;
}

/** PostgreSQL refused a statement. `sqlState` is its five-character code. */
export class StatementRefused extends Error {
  override readonly name = 'StatementRefused';
  constructor(
    readonly sqlState: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Whether PostgreSQL's error means that the database is away for a while rather than that the statement is wrong:
 * connection exceptions (class 08), too many connections (53300), shutdown and recovery (57P01 to 57P05), a statement
 * that ran out of time (57014) or waited too long for a lock (55P03), a deadlock (40P01), a writer that has become a
 * reader in a failover (25006), a sign-in that is refused (class 28) while a password or a grant is being changed.
 *
 * @see https://www.postgresql.org/docs/17/errcodes-appendix.html
 */
export const isUnavailable = (sqlState: string): boolean =>
  /^(08|28|57P0|(53300|57014|55P03|40P01|25006)$)/.test(sqlState);

/** Signs in as the schema's owner: by the secret's ARN, or with what `readSecret` finds in it. */
export interface Owner {
  readonly secretArn: string;
  readonly readSecret: (arn: string) => Promise<{ readonly username: string; readonly password: string }>;
}

export type ClosableDatabase = TransactionalDatabase & { close?(): Promise<void> };
