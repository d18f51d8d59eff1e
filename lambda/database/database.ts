import type { Result } from '../../domain/result';
import type { Statement } from './sql';

/** A column's value: cast 64-bit integers beyond 2^53, numerics and times to text in the SQL. */
export type Column = string | number | boolean | null;
export type Row = Readonly<Record<string, Column>>;

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
