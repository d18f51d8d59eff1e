import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { assumed, hiddenMs, measured, settingsOf } from '../runs/bench/capacity';
import { breaking, deletionParts, deliveryParts, type Part, today } from '../runs/bench/capacity-parts';
import { chartOf } from '../support/capacity-chart';
import { chartFile, committedRegions, pageFile, pageOf, type Regions } from '../support/capacity-page';

const regions = committedRegions();
const [[name, settings] = []] = Object.entries(regions);
if (name === undefined || settings === undefined)
  throw new Error('No row of lib/environments.ts has a service level agreement.');
const page = readFileSync(pageFile, 'utf8');
const chart = readFileSync(chartFile, 'utf8');

it('the page and the chart are what the model makes of the templates: npx tsx test/support/capacity-page.ts', () => {
  expect(pageOf(page, regions)).toBe(page);
  expect(chartOf(regions)).toBe(chart);
});

it.each([
  ['throttle', { throttle: settings.throttle + 50 }],
  ['concurrency of deliveries', { deliveries: settings.deliveries + 5 }],
  ['concurrency of events', { events: settings.events + 5 }],
  ['batch size', { batchSize: settings.batchSize - 5 }],
  ['capacity', { capacityUnits: settings.capacityUnits / 2 }],
  ['subnets', { subnets: settings.subnets - 1 }],
  ['addresses', { addresses: settings.addresses + 1 }],
  ['access', { access: settings.access === 'direct' ? 'data-api' : 'direct' }],
  ['memory', { memory: { ...settings.memory, deliver: 128 } }],
  ['region', { region: 'me-south-1' }],
] as const)('another %s of a template would change both', (_, change) => {
  const changed: Regions = { ...regions, [name]: { ...settings, ...change } };
  expect(pageOf(page, changed)).not.toBe(page);
  expect(chartOf(changed)).not.toBe(chart);
});

it('says what is assumed, and what the firewall lets through', () => {
  const { requestsPerAddress } = settings;
  const perSecond = (requestsPerAddress / 300).toFixed(1);
  for (const sentence of [
    `a receiver answers in ${assumed.receiver} ms`,
    `takes ${assumed.roundTrip['data-api']} ms over the Data API, ${assumed.roundTrip.direct} ms directly`,
    `${requestsPerAddress.toLocaleString('en')} requests in five minutes: ${perSecond} a second`,
  ])
    expect(page.replaceAll('\n', ' ')).toContain(sentence);
});

it('takes for measured what the measurements say', () => {
  const measurements = readFileSync(resolve(pageFile, '../measurements.md'), 'utf8');
  const { deletion, statement, deletionInPostgres, delivery, deliveryWithoutDatabase } = measured;
  for (const ms of [...Object.values(deletion), ...Object.values(statement)])
    expect(measurements).toContain(`${ms.toFixed(2)} ms`);
  for (const ms of [delivery, deliveryWithoutDatabase])
    expect(measurements).toContain(Math.round(1_000 / ms).toLocaleString('en'));
  expect(measurements).toContain(`${deletionInPostgres['data-api']} ms`);
  expect(measurements).toContain(`${measured.purgeBatch} ms`);
  expect(measurements).toContain(`${measured.logRowBytes} bytes`);
});

it('names each part once, with a source and a remedy', () => {
  for (const parts of [deletionParts, deliveryParts]) {
    const names = parts.map((part) => part.name);
    expect(new Set(names).size).toBe(names.length);
    expect(parts.filter(({ source, change }) => source === '' || change === '')).toEqual([]);
  }
});

it('breaks first what carries least, and not what is ours to raise', () => {
  const part = (partName: string, limit: number | undefined, own = false): Part => ({
    ...{ name: partName, own, limit: () => limit, because: '', source: '', change: '' },
  });
  const parts = [
    part('ours', 10, true),
    part('c', 90),
    part('none', undefined),
    part('b', 50),
    part('d', 101),
  ];
  expect(today(parts, settings)).toBe(10);
  expect(breaking(parts, settings, 10).map((broken) => broken.name)).toEqual(['b', 'c']);
  expect(breaking(parts, settings, 1)).toEqual([]);
});

it('counts a failing delivery as in flight for 80 seconds: 5 s, then its age, while that is a minute at most', () => {
  expect(hiddenMs()).toBe(5_000 * 2 ** 4);
});

it('does not guess what a template lacks', () => {
  expect(() => settingsOf('eu-central-1', { Resources: {} })).toThrow('Not one AWS::');
});
