import { ok, type Result, type Unavailable } from '../../domain/result';

/** A value that can be bound to a statement. Times, numerics and JSON travel as text and are cast in the SQL. */
export type Parameter = string | number | boolean | null;

/** One SQL statement with its bound values: `text[0] values[0] text[1] values[1] … text[n]`. */
export interface Statement {
  readonly text: readonly string[];
  readonly values: readonly Parameter[];
}

/** sql`select name from user_groups where user_group_id = ${id}`: every `${}` becomes a bound parameter. */
export function sql(text: TemplateStringsArray, ...values: Parameter[]): Statement {
  return { text: [...text], values };
}

/** Columns: cast 64-bit integers beyond 2^53, numerics and times to text in the SQL. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/** The statement may have been executed: retry only idempotent ones. */
export type DatabaseUnavailable = Unavailable<'database_unavailable'>;

/** Port: the region's database. Implemented by `data-api.ts` and `direct.ts`. */
export interface Database {
  /** Executes one statement, atomically, in one round trip. @throws StatementRefused: a bug, or a missing grant */
  execute(statement: Statement): Promise<Result<readonly Row[], DatabaseUnavailable>>;
}

/** A column's type; with `?` it may be null. */
type ColumnType = 'text' | 'number' | 'boolean' | 'text?' | 'number?' | 'boolean?';

interface ValueOf {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
}

/** A row with these columns. */
export type RowOf<Columns extends Readonly<Record<string, ColumnType>>> = {
  readonly [Name in keyof Columns]: Columns[Name] extends `${infer Type extends keyof ValueOf}?`
    ? ValueOf[Type] | null
    : ValueOf[Columns[Name] & keyof ValueOf];
};

/** Executes a statement that returns these columns. @throws Error if it returns others: a bug */
export async function query<const Columns extends Readonly<Record<string, ColumnType>>>(
  database: Database,
  columns: Columns,
  statement: Statement,
): Promise<Result<readonly RowOf<Columns>[], DatabaseUnavailable>> {
  const rows = await database.execute(statement);
  if (!rows.ok) return rows;
  for (const row of rows.value)
    for (const name of new Set([...Object.keys(columns), ...Object.keys(row)])) {
      const [type, value] = [columns[name] ?? 'none', row[name]];
      const is = value === null ? 'null' : typeof value === 'string' ? 'text' : typeof value;
      if (is !== type.replace('?', '') && !(is === 'null' && type.endsWith('?')))
        throw new Error(`The column "${name}" is ${is}; declared: ${type}.`);
    }
  return ok(rows.value as readonly RowOf<Columns>[]);
}

/** A database with transactions of several statements; for migrations. */
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

// Temporary: connection exceptions (08), refused sign-ins while a grant changes (28), shutdown and recovery (57P0x), too many
// connections, timeouts of statements and locks, deadlocks, failovers: https://www.postgresql.org/docs/17/errcodes-appendix.html
export const isUnavailable = (sqlState: string): boolean =>
  /^(08|28|57P0|(53300|57014|55P03|40P01|25006)$)/.test(sqlState);

/** The schema owner's credentials: by the secret's ARN (Data API), or read by `readSecret` (direct). */
export interface Owner {
  readonly secretArn: string;
  readonly readSecret: (arn: string) => Promise<{ readonly username: string; readonly password: string }>;
}

export type ClosableDatabase = TransactionalDatabase & { close?(): Promise<void> };
