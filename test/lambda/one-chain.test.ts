import { deliveryId, retrySchedule } from '../../domain/delivery';
import * as deliverWebhook from '../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../lambda/fan-out-event/variables';
import { drawWorld, type WorldOptions } from '../runs/simulate/options';
import { runWorld } from '../runs/simulate/world';

/** One event for one receiver. */
const alone: WorldOptions = {
  seed: 2,
  days: 10,
  organizations: 1,
  webhooks: 1,
  events: 1,
  receivers: [503],
  recovers: false,
  probabilities: {},
  repeats: 0,
  repeatDays: 0,
  outages: [],
  acts: 0,
  bursts: 0,
  healthy: 1,
  skew: 0,
};
const attempts = retrySchedule.length;
const subject = deliveryId('ev-0-0', 'wh-00000-simul-00000000000000');

it('the same seed gives the same history', async () => {
  const options = {
    ...drawWorld(6),
    organizations: 2,
    probabilities: { killed: 0.01, 'response lost': 0.01 },
  };
  const [first, second] = [await runWorld(options), await runWorld(options)];
  expect(first).toEqual(second);
  expect(first.faults.length).toBeGreaterThan(0);
});

it.each([1, 150])('a lost response at send %d of a schedule costs at most one request more', async (send) => {
  const only = new Set(['ev-0-0', `response lost to retries ${subject} #${send}`]);
  const { requests, violations, faults } = await runWorld(alone, only);
  expect([violations, faults.length]).toEqual([[], 1]);
  expect([attempts, attempts + 1]).toContain(requests);
});

it('a webhook that hangs takes at most one invocation of twenty on average, and delays no other', async () => {
  const fiveMinutes = { days: 1 / 288, events: 300 };
  const options: WorldOptions = { ...alone, ...fiveMinutes, organizations: 2, receivers: ['hangs', 'fast'] };
  const { busy, history } = await runWorld(options, undefined, true);
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
