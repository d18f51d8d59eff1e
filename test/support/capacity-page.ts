import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { idleLimit } from '../../lambda/deliver-webhook/kept-connections';
import { environments } from '../../lib/environments';
import {
  assumed,
  batchMs,
  deletionMs,
  deliveryInPostgresMs,
  fanOutMs,
  hiddenMs,
  measured,
  purgedPerSecond,
  quotas,
  regional,
  type Settings,
  settingsOf,
} from '../runs/bench/capacity';
import { breaking, deletionParts, deliveryParts, type Part, today } from '../runs/bench/capacity-parts';
import { chartOf } from './capacity-chart';
import { synthesizeStacks } from './stacks';

export const pageFile = resolve(__dirname, '../../docs/capacity.md');
export const chartFile = resolve(__dirname, '../../docs/capacity.svg');

/** The settings of the environments with a service level agreement, by their names. */
export type Regions = Readonly<Record<string, Settings>>;

export function committedRegions(): Regions {
  const rows = environments.filter(({ serviceLevelAgreement }) => serviceLevelAgreement);
  const stacks = synthesizeStacks(rows);
  return Object.fromEntries(rows.map(({ name, region }) => [name, settingsOf(region, stacks[name]?.json)]));
}

/** The page with its tables worked out again: each stands between `<!-- its name -->` and `<!-- end -->`. */
export function pageOf(page: string, regions: Regions): string {
  const tables: Readonly<Record<string, string>> = {
    deletions: parts(deletionParts, regions),
    deliveries: parts(deliveryParts, regions),
    multiples: multiples(regions),
    'a million organizations': million(regions),
  };
  return page.replace(
    /<!-- ([\w ]+) -->\n[\s\S]*?<!-- end -->/g,
    (_, name: string) => `<!-- ${name} -->\n${tables[name]}\n<!-- end -->`,
  );
}

const table = (rows: readonly (readonly (string | undefined)[])[]): string => {
  const [head, ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n');
};

const numbers = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const shown = (value: number | undefined) => (value === undefined ? '–' : numbers.format(value));
const link = (source: string) => (source.startsWith('https:') ? `[AWS](${source})` : source);

function parts(all: readonly Part[], regions: Regions): string {
  const settings = Object.values(regions);
  const least = ({ limit }: Part) =>
    Math.min(...settings.map((each) => limit(each) ?? Number.POSITIVE_INFINITY));
  return table([
    ['Part', ...Object.keys(regions).map((name) => `\`${name}\``), 'Because', 'Source', 'To change'],
    ...[...all]
      .sort((a, b) => least(a) - least(b))
      .map((part) => [
        part.own ? `**${part.name}**` : part.name,
        ...settings.map((each) => shown(part.limit(each))),
        part.because,
        link(part.source),
        part.change,
      ]),
  ]);
}

function multiples(regions: Regions): string {
  const named = (parts: readonly Part[]) => parts.map(({ name }) => name).join('; ') || 'nothing';
  return table([
    ['Times', '', 'Deletions', 'Break', 'Deliveries', 'Break', 'Break at worst'],
    ...[1, 10, 100, 1_000].flatMap((times) =>
      Object.entries(regions).map(([name, settings]) => {
        const broken = breaking(deliveryParts, settings, times);
        return [
          shown(times),
          `\`${name}\``,
          shown(times * today(deletionParts, settings)),
          named(breaking(deletionParts, settings, times)),
          shown(times * today(deliveryParts, settings)),
          named(broken.filter(({ atWorst }) => !atWorst)),
          named(broken.filter(({ atWorst }) => atWorst)),
        ];
      }),
    ),
  ]);
}

/** What a million organizations need, and what there is. */
function million(regions: Regions): string {
  const { deletions, events, webhooks, peak } = assumed.day;
  const perSecond = (perDay: number) => (1e6 * perDay) / 86_400;
  const mean = perSecond(events * webhooks);
  const busiest = mean * peak;
  const each = (of: (settings: Settings) => string) => Object.values(regions).map(of);
  const busiestDeletions = perSecond(deletions) * peak;
  const neverKept = (assumed.receiver + idleLimit + quotas.natPortReuse) / quotas.natPorts / 1_000;
  return table([
    ['Need', ...Object.keys(regions).map((name) => `\`${name}\`: needed / there`)],
    [
      'Deletions a second, at the busiest',
      ...each(({ throttle }) => `${shown(busiestDeletions)} / ${throttle}`),
    ],
    [
      'Deliveries a second, at the busiest',
      ...each((settings) => `${shown(busiest)} / ${shown(today(deliveryParts, settings))}`),
    ],
    [
      'Batches of deliveries at once',
      ...each(
        (settings) =>
          `${shown((busiest * batchMs(settings)) / settings.batchSize / 1_000)} / ${settings.deliveries}`,
      ),
    ],
    [
      'Batches of events at once',
      ...each(
        (settings) =>
          `${shown((busiest / webhooks / settings.batchSize / 1_000) * fanOutMs(settings))} / ${settings.events}`,
      ),
    ],
    [
      'Functions running at once',
      ...each((settings) => {
        const running =
          (busiest * batchMs(settings)) / settings.batchSize + busiestDeletions * deletionMs(settings);
        return `${shown(running / 1_000)} / ${shown(quotas.lambdaConcurrency)}`;
      }),
    ],
    [
      'Network interfaces that ask DNS',
      ...each(({ subnets }) => `${Math.ceil(busiest / quotas.resolverPackets)} / ${subnets}`),
    ],
    [
      'Addresses of receivers, at least',
      ...each(({ addresses }) => shown(Math.ceil((busiest * neverKept) / addresses))),
    ],
    [
      'KMS requests a second',
      ...each(({ region }) => `${shown(busiest)} / ${shown(regional(quotas.kmsRequests, region))}`),
    ],
    [
      'Capacity units of the writer',
      ...each(({ access, capacityUnits }) => {
        const ms = busiest * deliveryInPostgresMs + busiestDeletions * measured.deletionInPostgres[access];
        return `${shown((ms / 1_000) * quotas.capacityUnitsPerProcessor)} / ${capacityUnits}`;
      }),
    ],
    [
      'Rows of the delivery log that expire a second',
      ...each((settings) => {
        return `${shown(mean)} / ${shown(purgedPerSecond(settings))}`;
      }),
    ],
    [
      'GB of the delivery log, 31 days',
      ...each(() => shown((mean * 86_400 * 31 * measured.logRowBytes) / 1e9)),
    ],
    [
      'Share of the mean that may fail, in percent',
      ...each(() => shown((100_000 * quotas.sqsInFlight) / hiddenMs() / mean)),
    ],
  ]);
}

if (require.main === module) {
  const regions = committedRegions();
  writeFileSync(pageFile, pageOf(readFileSync(pageFile, 'utf8'), regions));
  writeFileSync(chartFile, chartOf(regions));
}
