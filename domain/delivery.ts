import { createHash } from 'node:crypto';
import { isEventId } from './event';
import { isId } from './ids';
import { fail, ok, type Result } from './result';
import { parseObject } from './strict-json';

/** One event on its way to one webhook: a message of the delivery queue. */
export interface Delivery {
  /** The same for every attempt and every repeat of the fan-out: the receiver's `webhook-id`. */
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  /** When the event was put on the events queue: milliseconds since 1970. */
  readonly acceptedAt: number;
  /** The event's JSON text: the body that is signed and sent. */
  readonly body: string;
  /** Number of the next attempt. @default 1 */
  readonly attempt?: number;
  /** Earliest time of the attempt: milliseconds since 1970. */
  readonly notBefore?: number;
}

/** Outcomes of attempts: `failed` is retried, `given_up` was the last retry, `disabled`: a 410 disabled the webhook. */
export const outcomes = ['delivered', 'failed', 'disabled', 'given_up'] as const;

/** One request to a receiver, recorded for 31 days. Times are ISO 8601, UTC. */
export interface Attempt {
  readonly date: string;
  readonly eventId: string;
  readonly webhookId: string;
  /** The receiver's `webhook-id`. */
  readonly deliveryId: string;
  /** Null without a response. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly outcome: (typeof outcomes)[number];
  readonly reason: string;
  /** Null if no retry follows. */
  readonly nextAttemptAt: string | null;
}

/** The id of an event's delivery to a webhook. It contains no full stop, the delimiter of the signed text. */
export function deliveryId(eventId: string, webhookId: string): string {
  const digest = createHash('sha256').update(`${eventId}\n${webhookId}`).digest('hex');
  return `msg_${digest.slice(0, 32)}`;
}

export function writeDelivery(delivery: Delivery): string {
  return JSON.stringify(delivery);
}

/** Parses a message of the delivery queue. The error is a sentence that contains none of its values. */
export function parseDelivery(text: string): Result<Delivery, string> {
  const value = parseObject(text);
  if (!value) return fail('The message is not a JSON object.');
  const delivery = value as unknown as Delivery;
  const wrong = fieldNames.find((name) => !fields[name].accepts(delivery[name]));
  return wrong ? fail(`"${wrong}" must be ${fields[wrong].form}.`) : ok(delivery);
}

interface Field {
  readonly accepts: (value: unknown) => boolean;
  /** Completes the sentence "FIELD must be …". */
  readonly form: string;
}

const text = (accepts: (value: string) => boolean, form: string): Field => ({
  accepts: (value) => typeof value === 'string' && accepts(value),
  form,
});
const optional = ({ accepts, form }: Field): Field => ({
  accepts: (value) => value === undefined || accepts(value),
  form: `${form}, or absent`,
});
const time: Field = {
  accepts: (value) => Number.isSafeInteger(value) && Math.abs(value as number) <= 8.64e15,
  form: 'a time in milliseconds since 1970',
};

/** Rejects here, once, what PostgreSQL or a receiver would reject at each attempt. */
const fields: Readonly<Record<keyof Delivery, Field>> = {
  deliveryId: text((id) => /^msg_[0-9a-f]{32}$/.test(id), '"msg_" with 32 hexadecimal digits'),
  webhookId: text((id) => isId(id, 'wh'), 'an id such as wh-xxxxx-xxxxx-xxxxxxxxxxxxxxxx'),
  eventId: text(isEventId, "an event's id"),
  acceptedAt: time,
  body: text((body) => body !== '', 'text'),
  attempt: optional({
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    form: 'the number of an attempt',
  }),
  notBefore: optional(time),
};
const fieldNames = Object.keys(fields) as (keyof Delivery)[];
