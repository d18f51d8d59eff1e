import { oid } from './column-types';
import { DataApiError } from './errors';
import { type PositionalStatement, toPositional } from './parameters';
import type { SqlParameter, TypeHint } from './requests';

export interface BoundStatement {
  readonly text: string;
  readonly values: readonly (string | Buffer | null)[];
  readonly types: readonly number[];
}

/** Type and accepted form of a hinted string. https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_SqlParameter.html */
const hints: Readonly<Record<TypeHint, { type: number; form?: RegExp; accepted?: string }>> = {
  DATE: { type: oid.date, form: /^\d{4}-\d{2}-\d{2}$/, accepted: 'YYYY-MM-DD' },
  DECIMAL: { type: oid.numeric },
  JSON: { type: oid.json },
  TIME: { type: oid.time, form: /^\d{2}:\d{2}:\d{2}(\.\d{1,6})?$/, accepted: 'HH:MM:SS[.FFF]' },
  TIMESTAMP: {
    type: oid.timestamp,
    form: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/,
    accepted: 'YYYY-MM-DD HH:MM:SS[.FFF]',
  },
  UUID: { type: oid.uuid },
};

/** Prepares `sql` once for many parameter sets. */
export function binder(sql: string): (parameters: readonly SqlParameter[]) => BoundStatement {
  const statement = toPositional(sql);
  return (parameters) => bind(statement, parameters);
}

/** Parameters that the statement does not name are ignored. */
function bind(statement: PositionalStatement, parameters: readonly SqlParameter[]): BoundStatement {
  const given = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const used = statement.names.flatMap((name) => given.get(name) ?? []);
  if (used.length < statement.names.length) {
    // PostgreSQL's own message: AWS sends it the statement with too few values.
    throw new DataApiError(
      'DatabaseErrorException',
      `ERROR: bind message supplies ${used.length} parameters, but prepared statement "" requires ${statement.names.length}; SQLState: 08P01`,
    );
  }
  return {
    text: statement.text,
    values: used.map(({ value }) => value),
    types: used.map(typeOf),
  };
}

/** A hint is for strings and null, other values keep their type. */
function typeOf({ name, value, type, typeHint }: SqlParameter): number {
  if (!typeHint || (type !== oid.text && value !== null)) return type;
  const hint = hints[typeHint];
  if (value !== null && hint.form && !hint.form.test(String(value))) {
    throw new DataApiError(
      'BadRequestException',
      `Parameter "${name}" has the type hint ${typeHint} and is not of the accepted format ${hint.accepted}.`,
    );
  }
  return hint.type;
}
