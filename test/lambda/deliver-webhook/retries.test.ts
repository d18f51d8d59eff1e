import { setTimeout as sleep } from 'node:timers/promises';
import { fail } from '../../../domain/result';
import { createCircuitBreaker } from '../../../lambda/deliver-webhook/circuit-breaker';
import { retrySchedule } from '../../../lambda/deliver-webhook/next-step';
import { delayed, emptied, hidden, useDeliveryWorld } from './delivery-world';

const hour = 3_600_000;
const world = useDeliveryWorld();

describe('a failing delivery', () => {
  let webhookId: string;
  beforeEach(async () => {
    webhookId = await world.addWebhook();
    world.answer = { status: 503 };
  });

  it('is recorded and hidden until its next attempt', async () => {
    await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ kept: 1 });
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.waits()).toEqual([5]);
    expect(await world.attempts(webhookId)).toMatchObject([
      { status: 503, outcome: 'failed', reason: 'server_error' },
    ]);
    expect(world.log.lines).toMatchObject([{ outcome: 'failed', retryInMs: 5_000 }]);
  });

  it('keeps its id and gets a new timestamp and signature when it is retried', async () => {
    const short = { ...retrySchedule, minDelay: 1_000 };
    await world.sendDelivery(webhookId);
    await world.runBatch({ ports: { schedule: short } });
    await sleep(1_100);
    world.answer = { status: 200 };
    expect(await world.runBatch()).toMatchObject({ received: 1, kept: 0 });

    const [first, second] = world.requests.map(({ headers }) => headers);
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(second?.['webhook-timestamp']).not.toBe(first?.['webhook-timestamp']);
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'failed' }, { outcome: 'delivered' }]);
  });

  it('becomes a delayed copy in its message group when the wait is long, which does not count as in flight', async () => {
    await world.sendDelivery(webhookId, { startedAt: Date.now() - 2 * hour, notBefore: Date.now() });
    expect(await world.runBatch()).toMatchObject({ kept: 0 });
    expect(await world.deliveries.count()).toEqual(delayed);
    expect(world.deliveries.groups()).toEqual([webhookId]);
  });

  it('keeps its age in the copy, and is not tried before its time', async () => {
    const startedAt = Date.now() - 2 * hour;
    await world.sendDelivery(webhookId, { startedAt, notBefore: Date.now() + 3_000 });
    expect(await world.runBatch()).toMatchObject({ received: 1, kept: 1 });
    expect(world.requests).toEqual([]);
    expect(await world.attempts(webhookId)).toEqual([]);

    world.now = () => Date.now() + 10_000;
    await world.sendDelivery(webhookId, { startedAt, notBefore: Date.now() + 3_000 });
    await world.runBatch();
    expect(world.requests).toHaveLength(1);
    expect(Number(world.log.lines.at(-1)?.retryInMs)).toBeGreaterThanOrEqual(2 * hour);
  });

  it('stays on the queue, hidden for 15 minutes, when its copy was not sent', async () => {
    const send = async () => fail({ kind: 'queue_unavailable', reason: 'TimeoutError' } as const);
    await world.sendDelivery(webhookId, { startedAt: Date.now() - 2 * hour, notBefore: Date.now() });
    expect(await world.runBatch({ queue: { send } })).toMatchObject({ kept: 1 });
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.waits()).toEqual([900]);
    expect(world.log.lines.at(-1)).toMatchObject({
      logCode: 'WEBHOOK_DELIVERY_WAITS',
      webhookId,
      cause: 'queue_unavailable',
    });
  });

  it('honours Retry-After', async () => {
    world.answer = { status: 429, headers: { 'retry-after': '60' } };
    await world.sendDelivery(webhookId);
    await world.runBatch();
    expect(world.log.lines).toMatchObject([{ reason: 'too_many_requests', retryInMs: 60_000 }]);
  });

  it('is given up at 72 h: it goes to the dead-letter queue with the reason, ready to start over', async () => {
    const startedAt = Date.now() - 72 * hour;
    const delivery = await world.sendDelivery(webhookId, { startedAt, notBefore: Date.now() });
    const { emitted } = await world.runBatch();
    expect(emitted.join()).toContain('"GivenUp":1');
    expect(await world.deliveries.count()).toEqual(emptied);

    const [dead] = await world.deadLetters.receive();
    expect(dead?.messageAttributes.Reason?.stringValue).toBe('server_error');
    const { startedAt: _, notBefore: __, ...rest } = delivery;
    expect(JSON.parse(dead?.body ?? '')).toEqual(rest);
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'given_up', reason: 'server_error' }]);
  });

  it('waits its whole time, to the second: it is not tried in a hurry before it is given up', async () => {
    const startedAt = Date.now();
    world.now = () => startedAt + 72 * hour - 300;
    await world.sendDelivery(webhookId, { startedAt, notBefore: startedAt + 72 * hour - 1_000 });
    await world.runBatch();
    expect(world.log.lines).toMatchObject([{ outcome: 'failed', retryInMs: 300 }]);
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(await world.runBatch()).toMatchObject({ received: 0 });
  });

  it('waits without an attempt while its circuit is open, and gets its last attempt all the same', async () => {
    const breaker = createCircuitBreaker();
    for (const _ of [1, 2]) breaker.record(webhookId, { answered: false, reason: 'timeout' }, Date.now());
    await world.sendDelivery(webhookId);
    expect(await world.runBatch({ ports: { circuitBreaker: breaker } })).toMatchObject({ kept: 1 });
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.requests).toEqual([]);
    expect(await world.attempts(webhookId)).toEqual([]);
    expect(world.log.lines).toMatchObject([{ logCode: 'WEBHOOK_CIRCUIT_OPEN', retryInMs: 5_000 }]);

    await world.sendDelivery(webhookId, { startedAt: Date.now() - 72 * hour, notBefore: Date.now() });
    await world.runBatch({ ports: { circuitBreaker: breaker } });
    expect(await world.attempts(webhookId)).toMatchObject([{ outcome: 'given_up' }]);
  });

  it('does not follow a redirect', async () => {
    world.answer = { status: 307, headers: { location: world.url } };
    await world.sendDelivery(webhookId);
    expect(await world.runBatch()).toMatchObject({ kept: 1 });
    expect(world.requests).toHaveLength(1);
    expect(await world.attempts(webhookId)).toMatchObject([{ status: 307, reason: 'redirect_not_followed' }]);
  });

  it('is recorded without a status when there was no response', async () => {
    const deaf = await world.addWebhook('http://127.0.0.1:1/');
    await world.sendDelivery(deaf);
    await world.runBatch();
    expect(await world.attempts(deaf)).toMatchObject([
      { status: null, outcome: 'failed', reason: 'connection_refused' },
    ]);
  });

  it('is recorded when the URL is refused', async () => {
    const inside = await world.addWebhook('https://169.254.169.254/latest/');
    await world.sendDelivery(inside);
    await world.runBatch();
    expect(await world.attempts(inside)).toMatchObject([{ status: null, reason: 'address_instead_of_name' }]);
  });
});
