import * as deliverWebhook from '../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../lambda/fan-out-event/variables';
import { drawWorld } from '../runs/simulate/options';
import { runWorld, tellStory } from '../runs/simulate/world';

const seeds = [9, 13, 27, 31, 41, 43, 46, 50, 51, 53, 3_273, 9_202, 16_868, 30_327, 288_581_648, 692_079_899];
// Each is over in half a second, and notices mistakes that few others do. `npm run simulate` draws others.
it.each(seeds)('world %i keeps the promises', async (seed) => {
  expect((await runWorld(drawWorld(seed))).violations).toEqual([]);
});

it('a seed repeats its world, with all that happened in it', async () => {
  const first = await runWorld(drawWorld(5));
  expect(first.violations).toEqual([]);
  expect(first.faults.length).toBeGreaterThan(0);
  expect(await runWorld(drawWorld(5))).toEqual(first);
});

it('the story of a violation is shortened, and told even if a part of it brings another back', async () => {
  const wrong = (events: string[]) => events.filter((name) => name === 'b');
  const told = (events: string[]) => ({ events, faults: [], violations: wrong(events) });
  const run = async (only: ReadonlySet<string>) => told(only.has('a') || only.has('b') ? ['a', 'b'] : []);
  expect((await tellStory(told(['x', 'a', 'y', 'b']), run)).events).toEqual(['a', 'b']);
});

it('a webhook that hangs takes at most one invocation of twenty on average, and delays no other', async () => {
  const regular = { repeats: 0, bursts: 0, acts: 0, probabilities: {}, outages: [], healthy: 1 };
  const fiveMinutes = { ...drawWorld(2), ...regular, days: 1 / 288, events: 300 };
  const small = { organizations: 2, webhooks: 1, receivers: ['hangs' as const, 'fast' as const] };
  const { busy, history } = await runWorld({ ...fiveMinutes, ...small }, undefined, true);
  expect(busy.retries).toBeLessThan(300_000);
  const timeOf = (line: string) => Date.parse(`2026-${line.slice(0, 18)}Z`);
  const sent = history.filter((line) => / ev-1-\d+ sent to events/.test(line)).map(timeOf);
  const made = history.filter((line) => line.includes('request to wh-00001')).map(timeOf);
  expect(sent.length).toBe(300);
  expect(Math.max(...made.map((time, index) => time - (sent[index] ?? 0)))).toBeLessThan(100);
  expect(made.length).toBeGreaterThan(290);
});

it.each(Object.entries({ fanOutEvent, deliverWebhook }))(
  '%s ends before its timeout, and its messages come back soon after',
  (_, { worstCase, timeoutSeconds, visibilitySeconds }) => {
    expect(worstCase).toBeLessThan(1_000 * timeoutSeconds);
    expect(visibilitySeconds).toBeGreaterThan(timeoutSeconds);
    expect(visibilitySeconds).toBeLessThanOrEqual(100);
  },
);
