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
