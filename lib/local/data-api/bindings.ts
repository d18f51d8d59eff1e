import { DataApiError } from './errors';
import { type PositionalStatement, toPositional } from './parameters';
import type { SqlParameter, TypeHint } from './requests';

/** A value as it is bound: its text (or bytes) and the OID of the type it is sent as. */
interface Binding {
  readonly value: string | Buffer | null;
  readonly type: number;
}

export interface BoundStatement {
  readonly text: string;
  readonly values: readonly (string | Buffer | null)[];
  readonly types: readonly number[];
}

/** OIDs of PostgreSQL's types; 0 leaves it to PostgreSQL. https://github.com/postgres/postgres/blob/REL_17_STABLE/src/include/catalog/pg_type.dat */
const oid = {
  unknown: 0,
  bool: 16,
  bytea: 17,
  int8: 20,
  text: 25,
  json: 114,
  float8: 701,
  date: 1082,
} as const;

/** Type and accepted form of a hinted string. https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_SqlParameter.html */
const hints: Readonly<Record<TypeHint, { type: number; form?: RegExp; accepted?: string }>> = {
  DATE: { type: oid.date, form: /^\d{4}-\d{2}-\d{2}$/, accepted: 'YYYY-MM-DD' },
  DECIMAL: { type: 1700 },
  JSON: { type: oid.json },
  TIME: { type: 1083, form: /^\d{2}:\d{2}:\d{2}(\.\d{1,6})?$/, accepted: 'HH:MM:SS[.FFF]' },
  TIMESTAMP: {
    type: 1114,
    form: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/,
    accepted: 'YYYY-MM-DD HH:MM:SS[.FFF]',
  },
  UUID: { type: 2950 },
};

/** Prepares `sql` once for many parameter sets. */
export function binder(sql: string): (parameters: readonly SqlParameter[]) => BoundStatement {
  const statement = toPositional(sql);
  return (parameters) => bind(statement, parameters);
}

/** Parameters that the statement does not name are ignored. */
function bind(statement: PositionalStatement, parameters: readonly SqlParameter[]): BoundStatement {
  const given = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const bindings = statement.names.flatMap((name) => {
    const parameter = given.get(name);
    return parameter ? [toBinding(parameter)] : [];
  });
  if (bindings.length < statement.names.length) {
    // PostgreSQL's own words, for AWS sends it the statement with the values that there are.
    throw new DataApiError(
      'DatabaseErrorException',
      `ERROR: bind message supplies ${bindings.length} parameters, but prepared statement "" requires ${statement.names.length}; SQLState: 08P01`,
    );
  }
  return {
    text: statement.text,
    values: bindings.map((binding) => binding.value),
    types: bindings.map((binding) => binding.type),
  };
}

function toBinding({ name, value, typeHint }: SqlParameter): Binding {
  switch (value.member) {
    case 'isNull':
      return { value: null, type: typeHint ? hints[typeHint].type : oid.unknown };
    case 'booleanValue':
      return { value: String(value.value), type: oid.bool };
    case 'longValue':
      return { value: value.value, type: oid.int8 };
    case 'doubleValue':
      return { value: value.value, type: oid.float8 };
    case 'blobValue':
      return { value: value.value, type: oid.bytea };
    case 'stringValue':
      return { value: value.value, type: typeHint ? hintedType(name, value.value, typeHint) : oid.text };
  }
}

function hintedType(name: string, text: string, typeHint: TypeHint): number {
  const hint = hints[typeHint];
  if (hint.form && !hint.form.test(text)) {
    throw new DataApiError(
      'BadRequestException',
      `Parameter "${name}" has the type hint ${typeHint} and is not of the accepted format ${hint.accepted}.`,
    );
  }
  return hint.type;
}
