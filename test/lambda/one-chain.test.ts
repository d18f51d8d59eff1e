import { deliveryId, retrySchedule } from '../../domain/delivery';
import * as deliverWebhook from '../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../lambda/fan-out-event/variables';
import { drawWorld } from '../runs/simulate/stories';
import { runWorld, type WorldOptions } from '../runs/simulate/world';

/** One event for one receiver. */
const alone: WorldOptions = {
  ...{ seed: 2, days: 10, organizations: 1, webhooks: 1, eventsPerDay: 1 },
  receivers: [503],
  ...{ probabilities: {}, repeats: 0, outages: [], acts: 0, bursts: 0, healthy: 1, skew: 0, purges: false },
};
const events = new Set(['ev-0-0']);
const attempts = retrySchedule.length;
const run = (...faults: string[]) => runWorld(alone, { events, faults: new Set(faults) });
const subject = deliveryId('ev-0-0', 'wh-00000-simul-00000000000000');

it('the same seed gives the same history', async () => {
  const options = drawWorld(6, { organizations: 2, probabilities: { killed: 0.01, 'response lost': 0.01 } });
  const [first, second] = [await runWorld(options), await runWorld(options)];
  expect(first).toEqual(second);
  expect(first.faults.length).toBeGreaterThan(0);
});

it.each([1, 150])('a lost response at send %d of a schedule costs at most one request more', async (send) => {
  const { requests, violations, faults } = await run(`response lost to retries ${subject} #${send}`);
  expect([violations, faults.length]).toEqual([[], 1]);
  expect([attempts, attempts + 1]).toContain(requests);
});

it('ten kills after the sends cost at most two requests more each', async () => {
  const kills = Array.from(
    { length: 10 },
    (_, index) => `killed after send to retries ${subject} #${20 * index + 1}`,
  );
  const { requests, violations, faults } = await run(...kills);
  expect(violations).toEqual([]);
  expect(faults.length).toBeGreaterThanOrEqual(10);
  expect(requests).toBeLessThanOrEqual(attempts + 20);
});

it('a webhook that hangs takes at most one invocation of twenty on average, and delays no other', async () => {
  const fiveMinutes = { days: 1 / 288, eventsPerDay: 86_400 };
  const options: WorldOptions = { ...alone, ...fiveMinutes, organizations: 2, receivers: ['hangs', 'fast'] };
  const { busySeconds, firstAttempts } = await runWorld(options, { isCut: true });
  expect(busySeconds.retries).toBeLessThan(300);
  expect(firstAttempts.length).toBeGreaterThan(290);
  expect(firstAttempts.at(-1)).toBeLessThan(100);
});

it.each(Object.entries({ fanOutEvent, deliverWebhook }))(
  '%s ends before its timeout, and its messages come back soon after',
  (_, { worstCase, timeoutSeconds, visibilitySeconds }) => {
    expect(worstCase).toBeLessThan(1_000 * timeoutSeconds);
    expect(visibilitySeconds).toBeGreaterThan(timeoutSeconds);
    expect(visibilitySeconds).toBeLessThanOrEqual(100);
  },
);
