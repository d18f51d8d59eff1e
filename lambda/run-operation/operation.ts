import * as v from 'valibot';
import { isEventId, isEventKind } from '../../domain/event';
import { type Id, type IdPrefix, isId } from '../../domain/ids';
import type { OperationError } from '../../domain/operations';
import { fail, type Result } from '../../domain/result';
import type { Database, DatabaseUnavailable } from '../database/database';

/** What operations work on. */
export interface Ports {
  readonly database: Database;
  /** The environment's name, for messages. */
  readonly environment: string;
  /** Whether webhooks may go to this very machine: see `localReceiversVariable`. @default false */
  readonly localReceivers?: boolean;
}

/** Something that an operator does to a region: checks its input, then does it. The result is JSON. */
export type Operation = (input: unknown, ports: Ports) => Promise<Result<unknown, OperationError>>;

/** An operation whose input has the given fields, and no other: a misspelt one is noticed. */
export function operation<const Fields extends v.ObjectEntries>(
  fields: Fields,
  run: (
    input: v.InferOutput<v.StrictObjectSchema<Fields, undefined>>,
    ports: Ports,
  ) => Promise<Result<unknown, OperationError | DatabaseUnavailable>>,
): Operation {
  const schema = v.strictObject(fields);
  return async (input, ports) => {
    const read = v.safeParse(schema, input, { abortEarly: true });
    if (!read.success) return invalid(problemOf(read.issues[0], Object.keys(fields)));
    const outcome = await run(read.output, ports);
    if (outcome.ok) return outcome;
    return fail('kind' in outcome.error ? unavailable(outcome.error) : outcome.error);
  };
}

function problemOf(issue: v.BaseIssue<unknown>, fields: readonly string[]): string {
  const field = issue.path?.[0]?.key;
  if (field === undefined) return '"input" must be an object.';
  if (!fields.includes(String(field)))
    return `"${field}" is not a field of this operation. It has: ${fields.join(', ')}.`;
  return issue.type === 'strict_object' ? `"${field}" is missing.` : `"${field}" must be ${issue.message}.`;
}

export const invalid = (message: string) =>
  ({ ok: false, error: { code: 'input_invalid', message } }) as const;

/** The operator looks before trying again, because the change may be made. */
const unavailable = ({ kind, reason }: DatabaseUnavailable): OperationError => ({
  code: kind,
  message: `The database did not answer in time (${reason}). A change may have been made all the same. Try again in a minute.`,
});

/** The answer about a webhook that does not exist. */
export const webhookNotFound = (webhookId: string, environment: string) =>
  fail<OperationError>({
    code: 'webhook_not_found',
    message: `There is no webhook ${webhookId} in environment ${environment}. "webhook list" tells those of an organization.`,
  });

/** The answer about an organization that does not exist. */
export const organizationNotFound = (organizationId: string, environment: string) =>
  fail<OperationError>({
    code: 'organization_not_found',
    message: `There is no organization ${organizationId} in environment ${environment}. "seed" makes one.`,
  });

/** ISO 8601, UTC. @param epoch seconds since 1970 */
export const toIsoTime = (epoch: unknown): string => new Date(Math.round(Number(epoch) * 1000)).toISOString();

// Fields of inputs. Each message completes the sentence "FIELD must be …".

/** Text that passes the check. */
const text = (isRight: (value: string) => boolean, form: string) =>
  v.pipe(v.string(form), v.check(isRight, form));

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
