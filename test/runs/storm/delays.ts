import { median, percentile } from '../harness/statistics';
import type { Observations } from './observations';
import type { PhaseName } from './phase';

/** Milliseconds from an event's acceptance to its first arrival at a healthy receiver. */
export interface Delays {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
}

/** The delays of the healthy receivers in all phases of a name. */
export function healthyDelays({ phases, ledgers }: Observations, name: PhaseName): Delays {
  const subscriptions = phases.filter((phase) => phase.name === name).flatMap((phase) => phase.subscriptions);
  const webhooks = new Set(subscriptions.map(({ webhookId }) => webhookId));
  const delays = ledgers
    .filter(({ webhookId, kind }) => kind === 'healthy' && webhooks.has(webhookId))
    .flatMap(({ arrivals }) => arrivals.map(({ delay }) => delay));
  if (delays.length === 0) return { count: 0, median: Number.NaN, p95: Number.NaN };
  return { count: delays.length, median: median(delays), p95: percentile(delays, 0.95) };
}

/** How many times the healthy receivers' median delay without sick ones it may be with them. */
export const maxRatio = 2;
