import pg, { DatabaseError } from 'pg';
import { AwsError, type JsonObject } from '../aws-server';

const oid = pg.types.builtins;

const invalid = (message: string) => new AwsError('ValidationException', message);

/**
 * A parameter, or a token in which `:name` is not one: string, quoted name, dollar quote, comment, cast.
 * https://www.postgresql.org/docs/17/sql-syntax-lexical.html
 */
const token =
  /\be'(?:\\.|''|[^'\\])*'|'[^']*'|"[^"]*"|\$((?:[a-z_]\w*)?)\$.*?\$\1\$|--[^\n]*|\/\*.*?\*\/|::|:=|:(\w+)/gis;

interface BoundStatement {
  readonly text: string;
  readonly values: (string | null)[];
  /** OIDs. */
  readonly types: number[];
}

/** The supported members of a value, and the PostgreSQL type of each; 0: inferred by PostgreSQL. */
const parameterTypes: Readonly<Record<string, number>> = {
  isNull: 0,
  booleanValue: oid.BOOL,
  longValue: oid.INT8,
  doubleValue: oid.FLOAT8,
  stringValue: oid.TEXT,
};

/**
 * Converts the Data API's `:name` parameters to PostgreSQL's `$1`.
 *
 * @param parameters from the request; unused ones are ignored
 * @throws AwsError for an unsupported or missing value
 */
export function bindParameters(sql: string, parameters: unknown): BoundStatement {
  if (!Array.isArray(parameters)) throw new AwsError('SerializationException', 'parameters is not a list');
  const given = new Map(parameters.map((parameter: JsonObject) => [parameter.name, parameter]));
  const names: string[] = [];
  const text = sql.replace(token, (found, _, name) => {
    if (name === undefined) return found;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  const values: (string | null)[] = [];
  const types: number[] = [];
  for (const name of names) {
    const { typeHint, value } = given.get(name) ?? {};
    const [[member, content] = ['no value'], ...others] = Object.entries(value ?? {});
    const type = Object.hasOwn(parameterTypes, member) ? parameterTypes[member] : undefined;
    if (typeHint != null) throw invalid(`:${name}: typeHint is not supported. Cast it in the statement.`);
    if (type === undefined || others.length > 0) {
      const supported = Object.keys(parameterTypes).join(', ');
      throw invalid(`:${name}: ${member} is not supported. Use one of ${supported}.`);
    }
    values.push(member === 'isNull' ? null : String(content));
    types.push(type);
  }
  return { text, values, types };
}

/** Bytes. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.limitations.html */
const maxResult = 1024 * 1024;
const maxRow = 64 * 1024;

/**
 * Runs one statement and returns the output of ExecuteStatement.
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
    values,
    rowMode: 'array',
    // The extended protocol rejects a second statement.
    queryMode: 'extended',
    // `pg` uses this one object for the parameter types and for the result parsers.
    types: Object.assign([...types], { getTypeParser: () => (value: string) => value }),
  } as pg.QueryArrayConfig);
  const changed = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
  const numberOfRecordsUpdated = changed ? rowCount : 0;
  if (fields.length === 0) return { numberOfRecordsUpdated, generatedFields: [] };

  const sizes = rows.map((row) => row.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0));
  if (sizes.some((size) => size > maxRow)) throw unsupported('Packet for query is too large');
  if (sizes.reduce((sum, size) => sum + size, 0) > maxResult) {
    throw unsupported('The result exceeds the size limit 1 MB.');
  }
  const converters = fields.map(converterOf);
  return {
    numberOfRecordsUpdated,
    records: rows.map((row) =>
      row.map((value, index) => (value === null ? { isNull: true } : converters[index]?.(value))),
    ),
    ...(includeResultMetadata && { columnMetadata: fields.map(({ name }) => ({ name, label: name })) }),
  };
}

/** Times, arrays and bytes are not supported: our statements cast them. */
function converterOf({ name, dataTypeID }: pg.FieldDef): (value: string) => JsonObject {
  switch (dataTypeID) {
    case oid.BOOL:
      return (value) => ({ booleanValue: value === 't' });
    case oid.INT2:
    case oid.INT4:
    case oid.INT8:
      return (value) => ({ longValue: exact(Number.isSafeInteger, value) });
    case oid.FLOAT4:
    case oid.FLOAT8:
      return (value) => ({ doubleValue: exact(Number.isFinite, value) });
    case oid.TEXT:
    case oid.VARCHAR:
    case oid.NUMERIC:
    case oid.UUID:
    case oid.JSON:
    case oid.JSONB:
      return (value) => ({ stringValue: value });
    default:
      throw unsupported(`The type of the column ${name} is not supported. Cast ${name} to text.`);
  }
}

/** @throws AwsError for a number that JSON or JavaScript cannot represent */
function exact(isExact: (value: number) => boolean, text: string): number {
  if (isExact(Number(text))) return Number(text);
  throw unsupported(`The result contains the number ${text}. Cast it to text.`);
}

const unsupported = (message: string) => new AwsError('UnsupportedResultException', message);

/** SQLSTATEs of a server that is stopping, crashed or starting. https://www.postgresql.org/docs/17/errcodes-appendix.html */
const unavailable = ['57P01', '57P02', '57P03'];

/** Maps a PostgreSQL or connection error to the Data API's. */
export function toAwsError(cause: unknown, timedOut: boolean): AwsError {
  if (cause instanceof AwsError) return cause;
  if (!(cause instanceof DatabaseError) || unavailable.includes(cause.code ?? '')) {
    return new AwsError('DatabaseUnavailableException', String(cause), 504);
  }
  const { code, message, position, hint, severity, routine } = cause;
  if (code === '57014' && timedOut) return new AwsError('StatementTimeoutException', 'Request timed out');
  // Only this routine of PostgreSQL's parser detects a second statement.
  if (code === '42601' && routine === 'exec_parse_message') {
    return invalid("Multistatements aren't supported.");
  }
  // Format observed at AWS: `ERROR: relation "x" does not exist; Position: 15; SQLState: 42P01`.
  const details = [hint && `Hint: ${hint}`, position && `Position: ${position}`, `SQLState: ${code}`];
  return new AwsError(
    'DatabaseErrorException',
    [`${severity}: ${message}`, ...details].filter(Boolean).join('; '),
  );
}
