import * as v from 'valibot';
import { isEventId, isEventKind } from '../../domain/event';
import { type Id, type IdPrefix, isId } from '../../domain/ids';

// Each message completes the sentence "FIELD must be …".

/** Text that passes the check. */
const text = (isRight: (value: string) => boolean, form: string) =>
  v.pipe(v.string(form), v.check(isRight, form));

/** What may be left out. */
export const optional = <Field extends v.GenericSchema>(field: Field) => v.optional(field);

/** An id of one of the prefixes. */
export const id = <Prefix extends IdPrefix>(...prefixes: readonly Prefix[]) =>
  v.pipe(
    text(
      (value) => isId(value, ...prefixes),
      `an id such as ${prefixes.map((prefix) => `${prefix}-xxxxx-xxxxx-xxxxxxxxxxxxxxxx`).join(' or ')}`,
    ),
    v.transform((value) => value as Id<Prefix>),
  );

/** A name: as long as the schema of the database has it. */
export const name = () =>
  text(
    (value) => /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(value),
    '1 to 256 characters without control characters or unpaired surrogates',
  );

const [earliest, latest] = ['0001-01-01T00:00:00Z', '+010000-01-01T00:00:00Z'].map(Date.parse) as [
  number,
  number,
];

/**
 * A time in ISO 8601, read into UTC. In UTC it has a year of four digits, from 0001: PostgreSQL knows no year 0, and
 * JavaScript writes later ones in a form that PostgreSQL refuses.
 */
export const time = () =>
  v.pipe(
    text((value) => {
      const date = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
      return date >= earliest && date < latest;
    }, 'a time such as 2026-11-20T12:00:00Z, of the years 0001 to 9999'),
    v.transform((value) => new Date(value).toISOString()),
  );

/** A whole number from 1 to `most`; `most` when left out. */
export const count = (most: number) => {
  const form = `a whole number from 1 to ${most}`;
  return v.optional(
    v.pipe(v.number(form), v.integer(form), v.minValue(1, form), v.maxValue(most, form)),
    most,
  );
};

/** True or false; false when left out. */
export const flag = () => v.optional(v.boolean('true or false'), false);

export const oneOf = <const Value extends string>(...values: readonly Value[]) =>
  v.picklist(values, `one of ${values.join(', ')}`);

export const url = () => v.string('a URL');

const maxKinds = 100;
const kindsForm = `1 to ${maxKinds} kinds of events such as wallet.created, or null for all`;

/** Kinds of events, each once; null is all of them. */
export const kinds = () =>
  v.nullable(
    v.pipe(
      v.array(text(isEventKind, kindsForm), kindsForm),
      v.minLength(1, kindsForm),
      v.maxLength(maxKinds, kindsForm),
      v.transform((values) => [...new Set(values)]),
    ),
  );

export const eventId = () =>
  text(isEventId, "an event's id: 1 to 64 letters, digits, hyphens or underscores");
