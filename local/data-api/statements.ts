import pg, { DatabaseError } from 'pg';
import { AwsError, type JsonObject } from '../network/aws-server';
import { toPositional } from './named-parameters';

export interface BoundStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** OIDs. */
  readonly types: readonly number[];
}

const { BOOL, INT2, INT4, INT8, OID, FLOAT4, FLOAT8, TEXT } = pg.types.builtins;

/** The members of a value that the product sends, and the type as which PostgreSQL gets each; 0: it decides. */
const parameterTypes = {
  isNull: 0,
  booleanValue: BOOL,
  longValue: INT8,
  doubleValue: FLOAT8,
  stringValue: TEXT,
};

/**
 * @param parameters those of the request; what the statement does not name is ignored
 * @throws AwsError for a kind of value that is not supported, and for a parameter that has none
 */
export function bind(sql: string, parameters: unknown): BoundStatement {
  // PostgreSQL would wait for its data.
  if (/^\s*copy\b/i.test(sql)) throw new AwsError('ValidationException', 'COPY is not supported.');
  if (parameters !== undefined && !Array.isArray(parameters)) {
    throw new AwsError('SerializationException', 'parameters is not a list');
  }
  const given = new Map((parameters ?? []).map((parameter: JsonObject) => [parameter.name, parameter]));
  const { text, names } = toPositional(sql);
  const bound = names.map((name) => {
    const parameter = given.get(name);
    if (!parameter) throw new AwsError('ValidationException', `:${name} is not among the parameters.`);
    if ((parameter.typeHint ?? null) !== null) {
      throw new AwsError(
        'ValidationException',
        `:${name}: typeHint is not supported. Cast it in the statement.`,
      );
    }
    return toValue(name, parameter.value);
  });
  return { text, values: bound.map(({ value }) => value), types: bound.map(({ type }) => type) };
}

function toValue(name: string, field: unknown): { value: string | null; type: number } {
  const [[member, value] = ['no value'], ...others] = Object.entries(field ?? {});
  if (others.length > 0 || !Object.hasOwn(parameterTypes, member)) {
    const supported = Object.keys(parameterTypes).join(', ');
    throw new AwsError(
      'ValidationException',
      `:${name}: ${member} is not supported. Give one of ${supported}.`,
    );
  }
  const type = parameterTypes[member as keyof typeof parameterTypes];
  return { value: member === 'isNull' ? null : String(value), type };
}

/** What the Data API allows: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.limitations.html */
const resultBytes = 1024 * 1024;
const rowBytes = 64 * 1024;

/**
 * Runs one statement and gives the answer of ExecuteStatement.
 *
 * @throws AwsError for a result that cannot be returned
 * @throws DatabaseError
 */
export async function runStatement(
  client: pg.ClientBase,
  { text, values, types }: BoundStatement,
  includeResultMetadata: boolean,
): Promise<JsonObject> {
  const { command, rowCount, fields, rows } = await client.query<(string | null)[]>({
    text,
    values: [...values],
    rowMode: 'array',
    // The extended protocol refuses a second statement.
    queryMode: 'extended',
    // `pg` gives this one object to PostgreSQL as the parameters' types and asks it for the parsers of the results.
    types: Object.assign([...types], { getTypeParser: () => (value: string) => value }),
  } as pg.QueryArrayConfig);
  const changed = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
  const numberOfRecordsUpdated = changed ? (rowCount ?? 0) : 0;
  if (fields.length === 0) return { numberOfRecordsUpdated, generatedFields: [] };

  const toFields = await fieldsOf(client, fields);
  const sizes = rows.map((row) => row.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0));
  if (sizes.some((size) => size > rowBytes)) throw unsupported('Packet for query is too large');
  if (sizes.reduce((sum, size) => sum + size, 0) > resultBytes) {
    throw unsupported('The result exceeds the size limit 1 MB.');
  }
  return {
    numberOfRecordsUpdated,
    records: rows.map((row) => row.map((value, index) => toFields[index]?.(value))),
    ...(includeResultMetadata && { columnMetadata: fields.map(({ name }) => ({ name, label: name })) }),
  };
}

type ToField = (text: string | null) => JsonObject;

const toLong = (text: string) => ({ longValue: exact(Number.isSafeInteger, text) });
const toDouble = (text: string) => ({ doubleValue: exact(Number.isFinite, text) });
const toText = (text: string) => ({ stringValue: text });

/** A JSON number. @throws AwsError for one that JSON or JavaScript does not have */
function exact(has: (value: number) => boolean, text: string): number {
  if (has(Number(text))) return Number(text);
  throw unsupported(`The result contains the number ${text}. Cast it to text.`);
}

/** By OID, of the types that the Data API returns as they are; times are not among them, nor arrays and bytes. */
const conversions = new Map<number, (text: string) => JsonObject>([
  [BOOL, (text) => ({ booleanValue: text === 't' })],
  ...[INT2, INT4, INT8, OID].map((type) => [type, toLong] as const),
  ...[FLOAT4, FLOAT8].map((type) => [type, toDouble] as const),
  ...(['TEXT', 'VARCHAR', 'BPCHAR', 'NUMERIC', 'UUID', 'JSON', 'JSONB'] as const).map(
    (name) => [pg.types.builtins[name], toText] as const,
  ),
]);

async function fieldsOf(client: pg.ClientBase, fields: readonly pg.FieldDef[]): Promise<ToField[]> {
  const other = fields.find(({ dataTypeID }) => !conversions.has(dataTypeID));
  if (other) {
    const { rows } = await client.query('select format_type($1, null) as name', [other.dataTypeID]);
    throw unsupported(
      `The result contains the unsupported data type ${rows[0]?.name}. Cast ${other.name} to text.`,
    );
  }
  return fields.map(({ dataTypeID }) => (text) => {
    const convert = conversions.get(dataTypeID) as (text: string) => JsonObject;
    return text === null ? { isNull: true } : convert(text);
  });
}

const unsupported = (message: string) => new AwsError('UnsupportedResultException', message);

/** SQLSTATEs of a server that stops, crashed or still starts. https://www.postgresql.org/docs/17/errcodes-appendix.html */
const unavailable = ['57P01', '57P02', '57P03'];

/** The error that the Data API answers with when PostgreSQL, or the way to it, fails. */
export function toAwsError(cause: unknown): AwsError {
  if (cause instanceof AwsError) return cause;
  const { code = 'XX000', message, position, hint, severity } = cause as DatabaseError;
  if (!(cause instanceof DatabaseError) || unavailable.includes(code)) {
    return new AwsError('DatabaseUnavailableException', String(cause), 504);
  }
  // Only this place of PostgreSQL's parser finds a second statement.
  if (code === '42601' && cause.routine === 'exec_parse_message') {
    return new AwsError('ValidationException', "Multistatements aren't supported.");
  }
  // As captured from the service, such as `ERROR: relation "x" does not exist; Position: 15; SQLState: 42P01`.
  const parts = [
    `${severity ?? 'ERROR'}: ${message}`,
    hint && `Hint: ${hint}`,
    position && `Position: ${position}`,
    `SQLState: ${code}`,
  ];
  return new AwsError('DatabaseErrorException', parts.filter(Boolean).join('; '));
}
