import { webhookLogCodes } from '../../../lambda/webhooks/log-codes';
import { columns } from '../../../lib/operations/terminal';
import { type Check, formatChecks } from '../harness/checks';
import { groupBy } from '../harness/group-by';
import { type Delays, healthyDelays, maxRatio } from './delays';
import { type Fate, followDeliveries } from './deliveries';
import type { Observations } from './observations';
import type { StormSettings } from './settings';

/** The storm as a table. */
export function writeReport(
  seen: Observations,
  settings: StormSettings,
  invariants: readonly Check[],
): string {
  const storm = followDeliveries(seen).fates.filter(({ phase }) => phase === 'storm');
  const byKind = [...groupBy(storm, ({ kind }) => kind)];
  const rows = [...byKind, ['all', storm] as const].map(([kind, fates]) => row(kind, fates, seen));
  return [
    ...columns([
      ['receivers', 'number', 'wanted', 'delivered', 'dead', 'stopped', 'requests', 'retries', 'twice'],
      ...rows,
    ]),
    '',
    ...columns(facts(seen, settings)),
    '',
    ...formatChecks(invariants),
  ].join('\n');
}

function row(kind: string, fates: readonly Fate[], seen: Observations): string[] {
  const webhooks = new Set(fates.map(({ webhookId }) => webhookId));
  const ledgers = seen.ledgers.filter(({ webhookId }) => webhooks.has(webhookId));
  const count = (condition: (fate: Fate) => boolean) => fates.filter(condition).length;
  const requests = ledgers.reduce((sum, ledger) => sum + ledger.requests, 0);
  return [
    kind,
    webhooks.size,
    fates.length,
    count(({ delivered }) => delivered),
    count(({ deadLettered }) => deadLettered > 0),
    count(({ stopped, notMade }) => stopped || notMade),
    requests,
    requests - count(({ arrival }) => arrival !== undefined),
    count(({ arrival }) => (arrival?.accepted ?? 0) > 1),
  ].map(String);
}

function facts(seen: Observations, settings: StormSettings): string[][] {
  const { kills, lost, lines, deadLetters, duration, failures } = seen;
  const [calm, storm] = [healthyDelays(seen, 'calm'), healthyDelays(seen, 'storm')];
  const line = (code: string) => String(lines.get(code) ?? 0);
  const delay = ({ median, p95, count }: Delays) => `${median} ms (95 %: ${p95} ms, ${count} deliveries)`;
  return [
    ['kills', `${kills.deliverWebhook} of delivery, ${kills.fanOutEvent} of fan-out`],
    [
      'invocations without an answer',
      `${lost.deliver.invocations} with ${lost.deliver.messages} deliveries, ${lost.fanOut.invocations} with ${lost.fanOut.messages} events`,
    ],
    ['attempts', line(webhookLogCodes.attempted)],
    ['deliveries that an open circuit delayed', line(webhookLogCodes.circuitOpen)],
    ['dead letters', String(deadLetters.length)],
    ['median delay of healthy receivers, alone', delay(calm)],
    ['median delay of healthy receivers, with sick ones', delay(storm)],
    ['ratio of the medians', `${(storm.median / calm.median).toFixed(2)} (at most ${maxRatio})`],
    [
      'events',
      `${settings.events}, each for ${settings.wanted} of ${settings.receivers} receivers, ${settings.rate.toFixed(1)} a second`,
    ],
    ['duration', `${Math.round(duration / 1_000)} s`],
    ['seed', String(settings.seed)],
    ...[...failures].map(([text, count]) => [`${count} times`, text]),
  ];
}
