import { webhookLogCodes } from '../../lambda/webhooks/log-codes';
import { healthyDelays, maxRatio } from './delays';
import { type Fate, followDeliveries } from './deliveries';
import type { Invariant } from './invariants';
import type { Observations } from './observations';
import type { ReceiverKind } from './receivers/behaviour';
import type { StormSettings } from './settings';

/** The storm as a table. */
export function writeReport(
  seen: Observations,
  settings: StormSettings,
  invariants: readonly Invariant[],
): string {
  const storm = followDeliveries(seen).fates.filter(({ phase }) => phase === 'storm');
  const kinds = [...new Set(storm.map(({ kind }) => kind))];
  const header = [
    'receivers',
    'number',
    'wanted',
    'delivered',
    'dead',
    'stopped',
    'requests',
    'retries',
    'twice',
  ];
  const lines = kinds.map((kind) =>
    row(
      kind,
      storm.filter((fate) => fate.kind === kind),
      seen,
    ),
  );
  return [
    ...aligned([header, ...lines, row('all', storm, seen)]),
    '',
    ...aligned(facts(seen, settings).map(([name, value]) => [name, value])),
    '',
    ...invariants.flatMap(({ name, violations }) => [
      `${violations.length === 0 ? 'holds ' : 'BROKEN'}  ${name}`,
      ...violations.slice(0, 5).map((violation) => `          ${violation}`),
      ...(violations.length > 5 ? [`          and ${violations.length - 5} more`] : []),
    ]),
  ].join('\n');
}

function row(kind: ReceiverKind | 'all', fates: readonly Fate[], seen: Observations): string[] {
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

function facts(seen: Observations, settings: StormSettings): [string, string][] {
  const calm = healthyDelays(seen, 'calm');
  const storm = healthyDelays(seen, 'storm');
  const rate = seen.phases.find(({ name }) => name === 'storm')?.rate ?? 0;
  const line = (code: string) => String(seen.lines.get(code) ?? 0);
  return [
    ['kills', `${seen.kills.deliverWebhook} of delivery, ${seen.kills.fanOutEvent} of fan-out`],
    [
      'invocations without an answer',
      `${seen.lost.deliver.invocations} with ${seen.lost.deliver.messages} deliveries, ${seen.lost.fanOut.invocations} with ${seen.lost.fanOut.messages} events`,
    ],
    ['attempts', line(webhookLogCodes.attempted)],
    ['waits for a silent receiver, without an attempt', line(webhookLogCodes.circuitOpen)],
    ['dead letters', String(seen.deadLetters.length)],
    [
      'median delay of healthy receivers, alone',
      `${calm.median} ms (95 %: ${calm.p95} ms, ${calm.count} deliveries)`,
    ],
    [
      'median delay of healthy receivers, with sick ones',
      `${storm.median} ms (95 %: ${storm.p95} ms, ${storm.count} deliveries)`,
    ],
    ['ratio of the medians', `${(storm.median / calm.median).toFixed(2)} (at most ${maxRatio})`],
    [
      'events',
      `${settings.events}, each for ${settings.wanted} of ${settings.receivers} receivers, ${rate.toFixed(1)} a second`,
    ],
    ['duration', `${Math.round(seen.duration / 1_000)} s`],
    ['seed', String(settings.seed)],
    ...[...seen.failures].map(([text, count]): [string, string] => [`${count} times`, text]),
  ];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  return rows.map((cells) =>
    cells
      .map((cell, column) =>
        column === 0
          ? cell.padEnd(widths[column] ?? 0)
          : cells.length === 2
            ? cell
            : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}
