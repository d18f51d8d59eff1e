import { createHash, randomBytes } from 'node:crypto';
import { isEventId } from './event';
import { isId } from './ids';
import { type UrlRefusal, urlRefusals } from './receiver-url';
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
  /** Which redelivery it belongs to. @default - the first delivery */
  readonly series?: string;
  /** Number of the next request of the series, from 1. @default `attempt` */
  readonly number?: number;
  /** A random token for each number: of several messages with one number, only that of the request continues. */
  readonly copy?: string;
  /** Number of the next attempt of the schedule: a request that only changes queues uses up none. @default 1 */
  readonly attempt?: number;
  /** Milliseconds that pauses of its webhook have postponed it beyond the attempt's time in the schedule. @default 0 */
  readonly paused?: number;
  /** Earliest time of the attempt: milliseconds since 1970. */
  readonly notBefore?: number;
}

/** Outcomes of attempts: `failed` is retried, `given_up` was the last retry, `disabled`: a 410 disabled the webhook. */
export const outcomes = ['delivered', 'failed', 'disabled', 'given_up'] as const;

/** docs/receivers.md says what to look at for each. */
export const attemptReasons = [
  ...(Object.keys(urlRefusals) as UrlRefusal[]),
  // The response's status.
  'ok',
  'gone',
  'redirect_not_followed',
  'too_many_requests',
  'client_error',
  'server_error',
  // No request: its webhook was paused for the rest of the schedule.
  'paused',
  // No response in time. `slow`: ended early, and made again from the retry queue with all of its time.
  'slow',
  'timeout',
  'connect_timeout',
  // The name.
  'name_not_found',
  'name_lookup_failed',
  'no_ipv4_address',
  'address_not_public',
  // The connection.
  'connection_refused',
  'connection_reset',
  'connection_closed',
  'connection_failed',
  'unreachable',
  'tls_failed',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_wrong_name',
  'certificate_untrusted',
  // The response's form.
  'response_malformed',
  'response_headers_too_large',
  'response_too_large',
  'protocol_switched',
] as const;

export type AttemptReason = (typeof attemptReasons)[number];

/** One request to a receiver, recorded for 31 days. Times are ISO 8601, UTC. */
export interface Attempt {
  readonly date: string;
  readonly eventId: string;
  readonly webhookId: string;
  /** The receiver's `webhook-id`. */
  readonly deliveryId: string;
  /** Which redelivery it belongs to; empty for the first delivery. */
  readonly series: string;
  /** Its number in the schedule; null if the release before recorded it. */
  readonly attempt: number | null;
  /** Null without a response. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly outcome: (typeof outcomes)[number];
  readonly reason: AttemptReason;
  /** Null if no retry follows. */
  readonly nextAttemptAt: string | null;
}

/** `no_response`: several attempts in a row had none (the circuit breaker). `retry_after`: its receiver asked for time. */
export type PauseReason = 'no_response' | 'retry_after';

/** The longest time between two attempts, in milliseconds. */
export const longestDelay = 6 * 3_600_000;

/** The published schedule: milliseconds from the first attempt to each, all within 72 h. Delays double from 5 s to 6 h. */
export const retrySchedule: readonly number[] = (() => {
  const times = [0];
  for (let delay = 5_000; ; delay = Math.min(2 * delay, longestDelay)) {
    const next = (times.at(-1) ?? 0) + delay;
    if (next > 72 * 3_600_000) return times;
    times.push(next);
  }
})();

/** The id of an event's delivery to a webhook. It contains no full stop, the delimiter of the signed text. */
export function deliveryId(eventId: string, webhookId: string): string {
  const digest = createHash('sha256').update(`${eventId}\n${webhookId}`).digest('hex');
  return `msg_${digest.slice(0, 32)}`;
}

export const writeDelivery = (delivery: Delivery): string => JSON.stringify(delivery);

/** Parses a message of the delivery queue. The error is a sentence that contains none of its values. */
export function parseDelivery(text: string): Result<Delivery, string> {
  const value = parseObject(text);
  if (!value) return fail('The message is not a JSON object.');
  const wrong = Object.entries(fields).find(([name, isValid]) => !isValid(value[name]));
  return wrong ? fail(`"${wrong[0]}" is invalid.`) : ok(value as unknown as Delivery);
}

/** A random token: short, without characters that any store would refuse. */
export const newToken = (): string => randomBytes(9).toString('base64url');

const isToken = (value: unknown) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);

/** Fits PostgreSQL's `integer`. */
const isCount = (value: unknown) =>
  value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) < 2 ** 31);

const isTime = (value: unknown) => Number.isSafeInteger(value) && Math.abs(Number(value)) <= 8.64e15;

/** Rejects here, once, what PostgreSQL or a receiver would reject at each attempt. */
const fields: Readonly<Record<keyof Delivery, (value: unknown) => boolean>> = {
  deliveryId: (id) => typeof id === 'string' && /^msg_[0-9a-f]{32}$/.test(id),
  webhookId: (id) => typeof id === 'string' && isId(id, 'wh'),
  eventId: (id) => typeof id === 'string' && isEventId(id),
  acceptedAt: isTime,
  body: (body) => typeof body === 'string' && body !== '',
  series: (id) => id === undefined || isToken(id),
  number: isCount,
  copy: (token) => token === undefined || isToken(token),
  attempt: isCount,
  paused: (milliseconds) => milliseconds === undefined || (isTime(milliseconds) && Number(milliseconds) >= 0),
  notBefore: (time) => time === undefined || isTime(time),
};
