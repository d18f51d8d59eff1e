import { webhookLogCodes } from '../../../lambda/webhooks/log-codes';
import type { Check } from '../harness/checks';
import { groupBy } from '../harness/group-by';
import type { Report } from '../harness/report';
import { type Delays, healthyDelays, maxRatio } from './delays';
import { type Fate, followDeliveries } from './deliveries';
import type { Observations } from './observations';
import type { StormSettings } from './settings';

export function report(seen: Observations, settings: StormSettings, checks: readonly Check[]): Report {
  const storm = followDeliveries(seen).fates.filter(({ phase }) => phase === 'storm');
  const byKind = [...groupBy(storm, ({ kind }) => kind), ['all', storm] as const];
  return {
    seed: settings.seed,
    tables: { receivers: byKind.map(([kind, fates]) => row(kind, fates, seen)) },
    facts: facts(seen, settings),
    checks,
  };
}

function row(receivers: string, fates: readonly Fate[], seen: Observations) {
  const webhooks = new Set(fates.map(({ webhookId }) => webhookId));
  const ledgers = seen.ledgers.filter(({ webhookId }) => webhooks.has(webhookId));
  const count = (condition: (fate: Fate) => boolean) => fates.filter(condition).length;
  const requests = ledgers.reduce((sum, ledger) => sum + ledger.requests, 0);
  return {
    receivers,
    number: webhooks.size,
    wanted: fates.length,
    delivered: count(({ delivered }) => delivered),
    'given up': count(({ givenUp }) => givenUp),
    stopped: count(({ stopped, notMade }) => stopped || notMade),
    requests,
    retries: requests - count(({ arrival }) => arrival !== undefined),
    twice: count(({ arrival }) => (arrival?.accepted ?? 0) > 1),
  };
}

function facts(seen: Observations, settings: StormSettings): Record<string, string | number> {
  const { kills, lost, lines, failures } = seen;
  const { events, wanted, receivers, rate } = settings;
  const [calm, storm] = [healthyDelays(seen, 'calm'), healthyDelays(seen, 'storm')];
  const delay = ({ median, p95, count }: Delays) => `${median} ms (95 %: ${p95} ms, ${count} deliveries)`;
  return {
    'kills of delivery': kills.deliverWebhook,
    'kills of fan-out': kills.fanOutEvent,
    'deliveries without an answer': `${lost.deliver.messages} in ${lost.deliver.invocations} invocations`,
    'events without an answer': `${lost.fanOut.messages} in ${lost.fanOut.invocations} invocations`,
    attempts: lines.get(webhookLogCodes.attempted) ?? 0,
    'deliveries given up': seen.givenUp.length,
    'median delay of healthy receivers, alone': delay(calm),
    'median delay of healthy receivers, with sick ones': delay(storm),
    'ratio of the medians': `${(storm.median / calm.median).toFixed(2)} (at most ${maxRatio})`,
    events: `${events}, each for ${wanted} of ${receivers} receivers, ${rate.toFixed(1)} a second`,
    'duration, s': Math.round(seen.duration / 1_000),
    ...Object.fromEntries([...failures].map(([text, count]) => [`failure: ${text}`, count])),
  };
}
