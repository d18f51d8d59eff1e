import { type AttemptReason, type Delivery, longestDelay } from '../../domain/delivery';
import { timeouts } from '../shared/timeouts';
import { longestPause, type Pause } from './health';

export type AttemptResult =
  | {
      readonly answered: true;
      readonly status: number;
      /** The response's `Retry-After`, unparsed. */
      readonly retryAfter?: string;
    }
  | Unanswered;

export interface Unanswered {
  readonly answered: false;
  readonly reason: AttemptReason;
  /** OpenSSL's own words, for the log. */
  readonly detail?: string;
}

export const unanswered = (reason: AttemptReason): Unanswered => ({ answered: false, reason });

export type NextStep =
  | { readonly outcome: 'delivered' }
  /** The receiver is permanently gone: disable its webhook. */
  | { readonly outcome: 'disabled' }
  /** `attempt` is the number of the next one: the same again after a slow one. */
  | { readonly outcome: 'failed'; readonly retryInMs: number; readonly attempt: number }
  | { readonly outcome: 'given_up' };

/** Milliseconds after which an attempt is slow. The function ends it then, if it came from the delivery queue. */
export const slowAfter = 2_000;

/** By this fraction, at most, a delay of the schedule is shorter and one asked for longer: it spreads what failed together. */
const jitter = 0.2;

// Milliseconds by which an attempt may miss its time, to spread those who ask for exactly that time. Together they
// stay below the difference between the last one's time and 72 h: 37 minutes.
const overrun = 90_000;

/** Times are in milliseconds since 1970, `random` is from 0 to 1. */
interface Timing {
  readonly now: number;
  readonly random: number;
  readonly schedule: readonly number[];
}

/**
 * With `Retry-After`, attempts that the schedule has in the meantime are skipped. A slow attempt is made again, but not while the
 * receiver may still be responding to it. `attempt` is a number from 1, `paused` the milliseconds by which pauses postponed it.
 */
export function nextStep(
  result: AttemptResult,
  attempt: number,
  timing: Timing & { readonly attemptedAt: number; readonly paused?: number },
): NextStep {
  const { attemptedAt, now, random, schedule, paused = 0 } = timing;
  if (result.answered && result.status >= 200 && result.status < 300) return { outcome: 'delivered' };
  if (result.answered && result.status === 410) return { outcome: 'disabled' };
  if (isSlow(result)) {
    return { outcome: 'failed', retryInMs: Math.max(0, attemptedAt + timeouts.response - now), attempt };
  }

  const [time, next, last] = [schedule[attempt - 1], schedule[attempt], schedule.at(-1)];
  if (time === undefined || next === undefined || last === undefined) return { outcome: 'given_up' };
  const at = time + paused;
  const retryAfter = result.answered
    ? Math.min(readRetryAfter(result.retryAfter, now), longestDelay, last - at)
    : 0;
  const reached = schedule.findIndex((time, index) => index >= attempt && time - at >= retryAfter);
  const extra =
    random * Math.min(jitter * retryAfter, Math.max((schedule[reached] ?? last) - at - retryAfter, overrun));
  const delay = Math.max((next - at) * (1 - jitter * random), retryAfter + extra);
  return { outcome: 'failed', retryInMs: Math.round(delay), attempt: reached + 1 };
}

/** Milliseconds for which a 429 or 503 pauses the whole webhook; 0 for any other result. */
export const pauseAsked = (result: AttemptResult, now: number): number =>
  result.answered && (result.status === 429 || result.status === 503)
    ? Math.min(readRetryAfter(result.retryAfter, now), longestPause)
    : 0;

/** Whether the receiver did not answer in time, or was not reached. */
export const isSilent = (result: AttemptResult): boolean => !result.answered && !isSlow(result);

/** Where a delivery waits for a pause of its webhook: `notBefore` is at `paused` after `attempt` in the schedule. */
type Waiting = Required<Pick<Delivery, 'attempt' | 'paused' | 'notBefore'>>;

/**
 * To the end of the pause and a random part of its length, so that nothing is released at once. What the schedule has in the
 * meantime is skipped; undefined if it ends before.
 */
export function postpone(
  { attempt = 1, paused = 0 }: Pick<Delivery, 'attempt' | 'paused'>,
  { until, length }: Pick<Pause, 'until' | 'length'>,
  { now, random, schedule }: Timing,
): Waiting | undefined {
  const notBefore = Math.ceil(Math.max(until, now) + random * length);
  const position = (schedule[attempt - 1] ?? 0) + paused + notBefore - now;
  return position > (schedule.at(-1) ?? 0) ? undefined : waitAt(position, notBefore, schedule);
}

/** Its webhook's pause was ended: draws a time between now and the one that it had. */
export function hasten({ attempt, paused, notBefore }: Waiting, { now, random, schedule }: Timing): Waiting {
  const earlier = Math.floor((1 - random) * (notBefore - now));
  const position = (schedule[attempt - 1] ?? 0) + paused - earlier;
  // Clocks differ.
  return waitAt(Math.max(0, position), notBefore - earlier, schedule);
}

function waitAt(position: number, notBefore: number, schedule: readonly number[]): Waiting {
  const reached = schedule.findLastIndex((time) => time <= position);
  return { attempt: reached + 1, paused: position - (schedule[reached] ?? 0), notBefore };
}

/** Whether the attempt was ended to repeat it from the retry queue: it uses up no attempt of the schedule. */
export const isSlow = (result: AttemptResult): boolean => !result.answered && result.reason === 'slow';

export function reasonOf(result: AttemptResult): AttemptReason {
  if (!result.answered) return result.reason;
  const { status } = result;
  if (status === 410) return 'gone';
  if (status >= 200 && status < 300) return 'ok';
  if (status >= 300 && status < 400) return 'redirect_not_followed';
  if (status === 429) return 'too_many_requests';
  return status >= 500 ? 'server_error' : 'client_error';
}

/** Milliseconds; 0 for anything else. https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 */
function readRetryAfter(value: string | undefined, now: number): number {
  const text = value?.trim() ?? '';
  // The RFC has whole seconds; some servers send a fraction.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text)) * 1_000;
  // Every HTTP date format starts with a day's name; `Date.parse` would read a bare number as a year.
  if (!/^[a-z]{3,9}[, ]/i.test(text)) return 0;
  // The format of C's `asctime` ends in the year; without a zone, `Date.parse` would take the machine's.
  const date = Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
