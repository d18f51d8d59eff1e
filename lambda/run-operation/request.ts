import { type Id, type IdPrefix, isId } from '../../domain/ids';
import type { OperationError } from '../../domain/operations';
import { fail, ok, type Result } from '../../domain/result';

/** What an operator's command sends: the operation's name and its input, which the operation itself checks. */
export interface Request {
  readonly operation: string;
  readonly input: unknown;
}

/** Reads one field; the error completes the sentence "FIELD must be …". */
export type Field<T> = (value: unknown) => Result<T, string>;
export type Shape = { readonly [name: string]: Field<unknown> };
export type Input<S extends Shape> = {
  readonly [name in keyof S]: S[name] extends Field<infer T> ? T : never;
};

/** Reads the payload of an invocation: `{"operation": NAME, "input": {…}}`; no input is an empty one. */
export function readRequest(payload: unknown): Result<Request, OperationError> {
  if (!isObject(payload) || typeof payload.operation !== 'string') {
    return invalid('The payload must be {"operation": NAME, "input": {…}}.');
  }
  return ok({ operation: payload.operation, input: payload.input ?? {} });
}

/** Reads an operation's input. A field that the shape does not know is refused, so that a misspelt one is noticed. */
export function readInput<S extends Shape>(shape: S, input: unknown): Result<Input<S>, OperationError> {
  if (!isObject(input)) return invalid('"input" must be an object.');
  const unknownField = Object.keys(input).find((name) => !Object.hasOwn(shape, name));
  if (unknownField !== undefined) {
    return invalid(
      `"${unknownField}" is not a field of this operation. It has: ${Object.keys(shape).join(', ')}.`,
    );
  }
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(shape)) {
    const read = field(input[name]);
    if (!read.ok) return invalid(`"${name}" must be ${read.error}.`);
    fields[name] = read.value;
  }
  return ok(fields as Input<S>);
}

/** An id of one of the prefixes. */
export function idField<Prefix extends IdPrefix>(...prefixes: readonly Prefix[]): Field<Id<Prefix>> {
  return (value) =>
    typeof value === 'string' && isId(value, ...prefixes)
      ? ok(value)
      : fail(
          `an id such as ${prefixes.map((prefix) => `${prefix}-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`).join(' or ')}`,
        );
}

/** A name: 1 to 256 characters, as the schema has it, none of them a control character or an unpaired surrogate. */
export const nameField: Field<string> = (value) =>
  typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(value)
    ? ok(value)
    : fail('1 to 256 characters without control characters or unpaired surrogates');

/** A time in ISO 8601, read into UTC. */
export const timeField: Field<string> = (value) => {
  const time = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? fail('a time such as 2026-11-20T12:00:00Z') : ok(new Date(time).toISOString());
};

/** A whole number from 1 to `most`; `most` when left out. */
export const countField =
  (most: number): Field<number> =>
  (value = most) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most
      ? ok(Number(value))
      : fail(`a whole number from 1 to ${most}`);

/** What may be left out. */
export const optional =
  <T>(field: Field<T>): Field<T | undefined> =>
  (value) =>
    value === undefined ? ok(undefined) : field(value);

/** True or false; false when left out. */
export const flagField: Field<boolean> = (value = false) =>
  typeof value === 'boolean' ? ok(value) : fail('true or false');

const invalid = (message: string) => fail<OperationError>({ code: 'input_invalid', message });

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
