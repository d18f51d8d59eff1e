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
      /** A name in snake case, such as `connection_refused`. */
      readonly reason: string;
    };

export type NextStep =
  | { readonly outcome: 'delivered' }
  /** The receiver is gone for good: its webhook is disabled. */
  | { readonly outcome: 'disabled' }
  | { readonly outcome: 'failed'; readonly retryInMs: number }
  | { readonly outcome: 'given_up' };

/** When a failed delivery is retried. Milliseconds, but for `jitter`. */
export interface RetrySchedule {
  readonly minDelay: number;
  readonly maxDelay: number;
  /** The part of a delay by which it varies to either side. */
  readonly jitter: number;
  readonly giveUpAfter: number;
}

export const retrySchedule: RetrySchedule = {
  minDelay: 5_000,
  maxDelay: 6 * 3_600_000,
  jitter: 0.2,
  giveUpAfter: 72 * 3_600_000,
};

export interface Moment {
  readonly now: number;
  /** When the delivery was first received, later by the time of our outages: milliseconds since 1970. */
  readonly startedAt: number;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * Decides what follows an attempt. The next delay is the delivery's age, so that delays double; the receiver may ask
 * for a longer one. The last attempt is at `giveUpAfter`: about 26 in 72 hours, from 22 to 31 by the jitter.
 */
export function nextStep(
  result: AttemptResult,
  { now, startedAt, random }: Moment,
  schedule: RetrySchedule = retrySchedule,
): NextStep {
  if (result.answered && result.status >= 200 && result.status < 300) return { outcome: 'delivered' };
  if (result.answered && result.status === 410) return { outcome: 'disabled' };

  const age = now - startedAt;
  if (age >= schedule.giveUpAfter) return { outcome: 'given_up' };

  const own = clamp(age, schedule.minDelay, schedule.maxDelay) * (1 + schedule.jitter * (2 * random - 1));
  const asked = result.answered ? Math.min(readRetryAfter(result.retryAfter, now), schedule.maxDelay) : 0;
  return {
    outcome: 'failed',
    retryInMs: Math.round(Math.min(Math.max(own, asked), schedule.giveUpAfter - age)),
  };
}

/** Why an attempt ended as it did, for the log and the attempt's row. */
export function reasonOf(result: AttemptResult): string {
  if (!result.answered) return result.reason;
  const { status } = result;
  if (status === 410) return 'gone';
  if (status >= 200 && status < 300) return 'ok';
  if (status >= 300 && status < 400) return 'redirect_not_followed';
  if (status === 429) return 'too_many_requests';
  return status >= 500 ? 'server_error' : 'client_error';
}

/** Milliseconds to wait by a `Retry-After` of seconds or of a date (RFC 9110, section 10.2.3); 0 for anything else. */
function readRetryAfter(value: string | undefined, now: number): number {
  if (value === undefined) return 0;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // The forms of an HTTP date all begin with a day's name; `Date.parse` alone would take a bare number for a year.
  const date = /^[A-Z][a-z]{2,8}[, ]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);
