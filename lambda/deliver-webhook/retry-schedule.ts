import { type AttemptReason, longestDelay } from '../../domain/delivery';

/** The result of an attempt: the receiver's response, or why there is none. */
export type AttemptResult =
  | {
      readonly answered: true;
      readonly status: number;
      /** The response's `Retry-After`, unparsed. */
      readonly retryAfter?: string;
    }
  | {
      readonly answered: false;
      readonly reason: AttemptReason;
    };

export type NextStep =
  | { readonly outcome: 'delivered' }
  /** The receiver is permanently gone: disable its webhook. */
  | { readonly outcome: 'disabled' }
  /** `attempt` is the number of the next one: the same again after a slow one. */
  | { readonly outcome: 'failed'; readonly retryInMs: number; readonly attempt: number }
  | { readonly outcome: 'given_up' };

/** Milliseconds that a receiver has for its response. */
export const responseTimeout = 15_000;

/** Milliseconds after which an attempt is slow. The first lane ends it then. */
export const slowAfter = 2_000;

/** Maximum fraction by which a delay is shortened, to spread retries that failed together. */
const jitter = 0.2;

/**
 * Decides what follows an attempt. A receiver may request a longer delay with `Retry-After`; attempts that the
 * schedule has in the meantime are skipped. A slow attempt is made again, but not while the receiver may still be
 * responding to it.
 *
 * @param attempt its number, from 1
 * @param attemptedAt when it began; it and `now` are milliseconds since 1970, `random` is from 0 to 1
 */
export function nextStep(
  result: AttemptResult,
  attempt: number,
  {
    attemptedAt,
    now,
    random,
    schedule,
  }: {
    readonly attemptedAt: number;
    readonly now: number;
    readonly random: number;
    readonly schedule: readonly number[];
  },
): NextStep {
  if (result.answered && result.status >= 200 && result.status < 300) return { outcome: 'delivered' };
  if (result.answered && result.status === 410) return { outcome: 'disabled' };
  if (isSlow(result)) {
    return { outcome: 'failed', retryInMs: Math.max(0, attemptedAt + responseTimeout - now), attempt };
  }

  const [at, next, last] = [schedule[attempt - 1], schedule[attempt], schedule.at(-1)];
  if (at === undefined || next === undefined || last === undefined) return { outcome: 'given_up' };
  const asked = result.answered ? Math.min(readRetryAfter(result.retryAfter, now), longestDelay) : 0;
  const delay = Math.min(Math.max((next - at) * (1 - jitter * random), asked), last - at);
  const reached = schedule.findIndex((time) => time - at >= delay);
  return { outcome: 'failed', retryInMs: Math.round(delay), attempt: reached + 1 };
}

/** Whether the first lane ended the attempt. Only its change of lanes counts: it uses up no attempt of the schedule. */
export const isSlow = (result: AttemptResult): boolean => !result.answered && result.reason === 'slow';

/** The reason for the outcome, for the log and the attempt's row. */
export function reasonOf(result: AttemptResult): AttemptReason {
  if (!result.answered) return result.reason;
  const { status } = result;
  if (status === 410) return 'gone';
  if (status >= 200 && status < 300) return 'ok';
  if (status >= 300 && status < 400) return 'redirect_not_followed';
  if (status === 429) return 'too_many_requests';
  return status >= 500 ? 'server_error' : 'client_error';
}

/** Parses a `Retry-After` of seconds or a date into milliseconds (RFC 9110, section 10.2.3); 0 for anything else. */
function readRetryAfter(value: string | undefined, now: number): number {
  if (value === undefined) return 0;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // Every HTTP date format starts with a day's name; `Date.parse` would read a bare number as a year.
  const date = /^[A-Z][a-z]{2,8}[, ]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
