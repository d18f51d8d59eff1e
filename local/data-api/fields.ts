import { types } from 'pg';
import type { ColumnType, ValueKind } from './column-types';
import { DataApiError } from './errors';
import { JsonNumber } from './json';
import { timeText, utcText } from './times';

export interface ResultSetOptions {
  readonly decimalReturnType: 'STRING' | 'DOUBLE_OR_LONG';
  readonly longReturnType: 'LONG' | 'STRING';
}

/** The union `Field` of an answer, with one member. */
export type Field = Readonly<Record<string, unknown>>;

type ScalarMember = 'booleanValue' | 'longValue' | 'doubleValue' | 'stringValue' | 'blobValue';

const arrayMembers: Record<ScalarMember, string> = {
  booleanValue: 'booleanValues',
  longValue: 'longValues',
  doubleValue: 'doubleValues',
  stringValue: 'stringValues',
  blobValue: 'stringValues',
};

/** The answer's form of a value, of which `text` is PostgreSQL's text. */
export function toField(text: string | null, type: ColumnType, options: ResultSetOptions): Field {
  if (text === null) return { isNull: true };
  if (type.element) return { arrayValue: toArrayValue(text, type.element.kind, options) };
  const member = memberFor(type.kind, options, [text]);
  return { [member]: toScalar(text, type.kind, member) };
}

/** The value alone, for `formattedRecords`. */
export function plainValue(field: Field): unknown {
  if (field.isNull) return null;
  if (field.arrayValue) return Object.values(field.arrayValue)[0];
  return Object.values(field)[0];
}

/** PostgreSQL's array text to elements; `pg` itself would parse them as its own types. */
const elementsOf: (text: string) => readonly unknown[] = types.getTypeParser(
  types.builtins.TEXT + 984,
  'text',
);

function toArrayValue(text: string, kind: ValueKind, options: ResultSetOptions): Field {
  const elements = elementsOf(text);
  if (elements.some(Array.isArray)) {
    throw new DataApiError('UnsupportedResultException', 'The result contains a multidimensional array.');
  }
  const texts = elements as readonly (string | null)[];
  const member = memberFor(
    kind,
    options,
    texts.filter((element) => element !== null),
  );
  const values = texts.map((element) => (element === null ? null : toScalar(element, kind, member)));
  return { [arrayMembers[member]]: values };
}

/** https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ResultSetOptions.html */
function memberFor(kind: ValueKind, options: ResultSetOptions, texts: readonly string[]): ScalarMember {
  switch (kind) {
    case 'boolean':
      return 'booleanValue';
    case 'long':
      return options.longReturnType === 'STRING' ? 'stringValue' : 'longValue';
    case 'double':
      return 'doubleValue';
    case 'decimal':
      if (options.decimalReturnType === 'STRING') return 'stringValue';
      return texts.every(isLong) ? 'longValue' : 'doubleValue';
    case 'bytes':
      return 'blobValue';
    case 'text':
    case 'time':
    case 'timestamptz':
      return 'stringValue';
  }
}

function toScalar(text: string, kind: ValueKind, member: ScalarMember): unknown {
  if (kind === 'time') return timeText(text);
  if (kind === 'timestamptz') return utcText(text);
  switch (member) {
    case 'booleanValue':
      return text === 't';
    case 'longValue':
      return new JsonNumber(text);
    case 'doubleValue':
      return toDouble(text);
    case 'blobValue':
      return toBytes(text);
    case 'stringValue':
      return text;
  }
}

function isLong(text: string): boolean {
  return /^-?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Both forms of https://www.postgresql.org/docs/17/datatype-binary.html: a client may set `bytea_output`. */
export function toBytes(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice('\\x'.length), 'hex');
  const unescaped = text.replace(/\\(\\|[0-7]{3})/g, (_, escaped) =>
    escaped === '\\' ? escaped : String.fromCharCode(Number.parseInt(escaped, 8)),
  );
  return Buffer.from(unescaped, 'latin1');
}

/**
 * Whole numbers keep a fraction (`10.0`), as in the example of
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-json.html. JSON has no infinity and no NaN:
 * the protocol writes them as strings (https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html).
 */
function toDouble(text: string): JsonNumber | string {
  if (!Number.isFinite(Number(text))) return text;
  return new JsonNumber(/^-?\d+$/.test(text) ? `${text}.0` : text);
}
