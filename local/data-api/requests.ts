import { oid } from './column-types';
import { DataApiError } from './errors';

const typeHints = ['DATE', 'DECIMAL', 'JSON', 'TIME', 'TIMESTAMP', 'UUID'] as const;
export type TypeHint = (typeof typeHints)[number];

export interface SqlParameter {
  readonly name: string;
  /** Numbers as text, for they may be 64-bit integers. */
  readonly value: string | Buffer | null;
  /** OID of the type that the value has without a hint. */
  readonly type: number;
  readonly typeHint?: TypeHint;
}

export type Members = Readonly<Record<string, unknown>>;

const textLimits = {
  // https://docs.aws.amazon.com/rdsdataservice/latest/APIReference/API_ExecuteStatement.html
  resourceArn: { minimum: 11, maximum: 100 },
  secretArn: { minimum: 11, maximum: 100 },
  sql: { minimum: 0, maximum: 65_536 },
  database: { minimum: 0, maximum: 64 },
  transactionId: { minimum: 0, maximum: 192 },
} as const;

type TextMember = keyof typeof textLimits;

export function asMembers(value: unknown, where: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(where, 'object');
  return value as Members;
}

export function requiredText(request: Members, name: TextMember): string {
  const text = optionalText(request, name);
  if (text === undefined) throw invalid(name, 'Member must not be null');
  return text;
}

export function optionalText(request: Members, name: TextMember): string | undefined {
  const value = request[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw malformed(name, 'string');
  const { minimum, maximum } = textLimits[name];
  if (value.length < minimum) {
    throw invalid(name, `Member must have length greater than or equal to ${minimum}`);
  }
  if (value.length > maximum) throw invalid(name, `Member must have length less than or equal to ${maximum}`);
  return value;
}

export function flag(request: Members, name: string): boolean {
  const value = request[name] ?? false;
  if (typeof value !== 'boolean') throw malformed(name, 'boolean');
  return value;
}

/** One of `choices`, of which the first is the default. */
export function choice<const T extends string>(
  request: Members,
  name: string,
  choices: readonly [T, ...T[]],
): T {
  const value = request[name] ?? choices[0];
  const found = choices.find((one) => one === value);
  if (found === undefined) throw invalid(name, `Member must satisfy enum value set: [${choices.join(', ')}]`);
  return found;
}

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.differences.html */
export function refuseSchema(request: Members): void {
  if ((request.schema ?? undefined) !== undefined) {
    throw new DataApiError('ValidationException', "The schema parameter isn't supported");
  }
}

export function parameterSets(request: Members): SqlParameter[][] {
  return list(request.parameterSets, 'parameterSets').map((set) =>
    list(set, 'parameterSets').map(toParameter),
  );
}

export function parameters(request: Members): SqlParameter[] {
  return list(request.parameters, 'parameters').map(toParameter);
}

function list(value: unknown, name: string): unknown[] {
  const given = value ?? [];
  if (!Array.isArray(given)) throw malformed(name, 'list');
  return given;
}

function toParameter(given: unknown): SqlParameter {
  const parameter = asMembers(given, 'parameters');
  if (typeof parameter.name !== 'string') throw invalid('parameters.name', 'Member must not be null');
  const bound = { name: parameter.name, ...toValue(asMembers(parameter.value ?? { isNull: true }, 'value')) };
  const hint = parameter.typeHint ?? undefined;
  if (hint === undefined) return bound;
  const typeHint = typeHints.find((one) => one === hint);
  if (!typeHint) throw invalid('typeHint', `Member must satisfy enum value set: [${typeHints.join(', ')}]`);
  return { ...bound, typeHint };
}

const isText = (value: unknown) => typeof value === 'string';

/** The members of the union `Field`: OID of the type of each, and which values it takes. */
const members: Readonly<Record<string, { type: number; takes: (value: unknown) => boolean }>> = {
  isNull: { type: oid.unknown, takes: (value) => value === true },
  booleanValue: { type: oid.bool, takes: (value) => typeof value === 'boolean' },
  longValue: { type: oid.int8, takes: (value) => /^-?\d+$/.test(String(value)) },
  doubleValue: { type: oid.float8, takes: isDouble },
  stringValue: { type: oid.text, takes: isText },
  blobValue: { type: oid.bytea, takes: isText },
};

function toValue(field: Members): Pick<SqlParameter, 'value' | 'type'> {
  const [entry, ...others] = Object.entries(field).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  if (!entry || others.length > 0) throw malformed('value', 'union with exactly one member');
  const [name, given] = entry;
  if (name === 'arrayValue') {
    throw new DataApiError('ValidationException', 'Array parameters are not supported.');
  }
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  if (!member?.takes(given)) throw malformed('value', 'Field');
  const { type } = member;
  if (type === oid.unknown) return { value: null, type };
  return { value: type === oid.bytea ? Buffer.from(String(given), 'base64') : String(given), type };
}

/** Not-a-number and the infinities travel as strings; so do, after our parsing, integers of many digits. */
function isDouble(value: unknown): boolean {
  return typeof value === 'number' || /^(NaN|-?Infinity|-?\d+)$/.test(String(value));
}

function invalid(name: string, constraint: string): DataApiError {
  return new DataApiError(
    'ValidationException',
    `1 validation error detected: Value at '${name}' failed to satisfy constraint: ${constraint}`,
  );
}

function malformed(name: string, expected: string): DataApiError {
  return new DataApiError('SerializationException', `${name} is not a ${expected}`);
}
