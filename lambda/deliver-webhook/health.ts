import type { PauseReason } from '../../domain/delivery';
import { probe } from '../../domain/probe';

/** While a webhook is paused, its deliveries wait without requests. Then one is the trial. */
export interface Pause {
  readonly reason: PauseReason;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Milliseconds. */
  readonly length: number;
}

/** What a webhook's row says about it. Times are in milliseconds since 1970. */
export interface Health {
  /** When an attempt last was slow or failed; none if it is healthy. */
  readonly unhealthyAt?: number;
  /** Consecutive attempts without a response. */
  readonly failures: number;
  readonly pause?: Pause;
}

/** The claim of the one request that follows a pause. */
export interface Trial {
  /** The end of the pause that the claim set: milliseconds since 1970. */
  readonly until: number;
  /** Whether the last attempt of the environment's own probe had a response. */
  readonly probeAnswers: boolean;
}

/** What an attempt means for its webhook. */
export interface HealthResult {
  /** The URL that was requested: a result says nothing about another one. */
  readonly url: string;
  /** It was slow or failed. */
  readonly unhealthy: boolean;
  readonly answered: boolean;
  /** The receiver did not answer in time, or was not reached. */
  readonly silent: boolean;
  /** Milliseconds of a pause that the receiver asks for. */
  readonly askedMs: number;
  /** If it was the request after a pause. */
  readonly trial?: Trial;
}

/** Others wait while a trial runs; if no result comes in these milliseconds, the next trial follows. */
export const trialTime = 30_000;

/** The longest pause of a webhook, in milliseconds. */
export const longestPause = 15 * 60_000;

/** The first pause of the circuit breaker, in milliseconds, and the consecutive attempts without a response that open it. */
const breaker = { length: 30_000, failures: 5 };

/** Milliseconds from one mark to the next: a busy receiver that fails would have its row written for each attempt. */
const markEvery = 1_000;

/** Milliseconds without a slow or failed attempt: an occasionally slow receiver stays in its queue. */
const healthyAfter = 30_000;

/**
 * A webhook's health after the results of a batch, which `failures` counts already. A pause is the circuit breaker's (closed by
 * any response, doubled by a trial without one) or asked for by the receiver.
 */
export function nextHealth(
  webhookId: string,
  health: Health,
  { results, now }: { readonly results: readonly HealthResult[]; readonly now: number },
): Health {
  const unhealthyAt = nextMark(health.unhealthyAt, results, now);
  const pause = webhookId === probe.webhookId ? health.pause : nextPause(health, results, now);
  return {
    failures: health.failures,
    ...(unhealthyAt !== undefined && { unhealthyAt }),
    ...(pause && { pause }),
  };
}

function nextMark(marked: number | undefined, results: readonly HealthResult[], now: number) {
  if (results.some(({ unhealthy }) => unhealthy))
    return marked === undefined || marked < now - markEvery ? now : marked;
  return marked !== undefined && marked < now - healthyAfter ? undefined : marked;
}

function nextPause(
  { pause, failures }: Health,
  results: readonly HealthResult[],
  now: number,
): Pause | undefined {
  // A late trial, whose claim something else has replaced, is a result like any other.
  const trial = results.find(({ trial }) => pause !== undefined && trial?.until === pause.until)?.trial;
  const retryAfter = Math.max(...results.map(({ askedMs }) => askedMs));
  if (retryAfter > 0) {
    const length = Math.ceil(retryAfter / 1_000) * 1_000;
    const lasts = pause?.reason === 'retry_after' && !trial && pause.until > now;
    const { until, length: before } = lasts ? pause : { until: 0, length: 0 };
    return {
      reason: 'retry_after',
      until: Math.max(now + length, until),
      length: Math.max(length, before),
    };
  }
  if (results.some(({ answered }) => answered))
    return trial || pause?.reason === 'no_response' ? undefined : pause;
  const open = (length: number): Pause => ({ reason: 'no_response', until: now + length, length });
  if (!pause) return failures >= breaker.failures ? open(breaker.length) : undefined;
  if (!trial) return pause;
  // Without a response to the probe, the fault may be ours.
  const isSevere = pause.reason === 'no_response' && trial.probeAnswers;
  return open(isSevere ? Math.min(2 * pause.length, longestPause) : breaker.length);
}
