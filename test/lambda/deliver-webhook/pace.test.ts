import { type Delivery, deliveryId } from '../../../domain/delivery';
import { fail, ok } from '../../../domain/result';
import { createCircuitBreaker } from '../../../lambda/deliver-webhook/circuit-breaker';
import type { DeliveryPorts } from '../../../lambda/deliver-webhook/deliver-webhook';
import { pace, type SlotRequest, type Slots } from '../../../lambda/deliver-webhook/pace';
import type { OutgoingMessage } from '../../../lambda/webhooks/queue';
import { emptied, hidden, useDeliveryWorld } from './delivery-world';

const second = 1_000;
const hour = 3_600 * second;
const world = useDeliveryWorld();
let webhookId: string;
let asked: SlotRequest[];
/** Gives every delivery a slot after so many milliseconds. */
const slotsIn = (wait: number): Slots => ({
  async reserve(request) {
    asked.push(request);
    return ok(wait);
  },
});
beforeEach(async () => {
  webhookId = await world.addWebhook();
  asked = [];
});

/** Runs a batch, and returns what it sent to its own queue. */
async function copiesOf(ports: Partial<DeliveryPorts>) {
  const copies: (Delivery & Pick<OutgoingMessage, 'group' | 'delaySeconds'>)[] = [];
  await world.runBatch({
    ports,
    queue: {
      async send(messages) {
        for (const { body, group, delaySeconds = 0 } of messages)
          copies.push({ ...JSON.parse(body), group, delaySeconds });
        return ok(null);
      },
    },
  });
  return copies;
}

describe('a delivery that has waited', () => {
  const waited = (change: Partial<Delivery> = {}) =>
    world.sendDelivery(webhookId, { acceptedAt: Date.now() - 24 * hour, ...change });

  it('goes out in its turn with the others of its webhook, the oldest first, and the rest is put off', async () => {
    const begin = Date.now();
    for (const eventId of ['ev-4', 'ev-2', 'ev-1', 'ev-5', 'ev-3']) {
      const acceptedAt = begin - 24 * hour + Number(eventId.at(-1));
      await waited({ eventId, deliveryId: deliveryId(eventId, webhookId), acceptedAt });
    }
    const copies = await copiesOf({ pace: { ...pace, perSecond: 0.4 } });

    expect(world.requests.map(({ headers }) => headers['webhook-id'])).toEqual([
      deliveryId('ev-1', webhookId),
    ]);
    copies.sort((a, b) => Number(a.notBefore) - Number(b.notBefore));
    expect(copies.map(({ eventId }) => eventId)).toEqual(['ev-2', 'ev-3', 'ev-4', 'ev-5']);
    const gaps = copies.map(({ notBefore = 0 }, index) => notBefore - begin - (index + 1) * 2_500);
    for (const gap of gaps) expect(Math.abs(gap)).toBeLessThan(2 * second);
    expect(copies.every(({ group, hasSlot }) => group === webhookId && hasSlot)).toBe(true);
    expect(world.log.lines.filter(({ logCode }) => logCode === 'WEBHOOK_PUT_OFF')).toHaveLength(4);
    expect(await world.attempts(webhookId)).toHaveLength(1);
    expect(await world.deliveries.count()).toEqual(emptied);
  });

  it('needs no slot before it has waited for 30 seconds', async () => {
    const reserve = async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
    await waited({ acceptedAt: Date.now() - 28 * second });
    expect(await world.runBatch({ ports: { slots: { reserve } } })).toMatchObject({ kept: 0 });
    await waited({ acceptedAt: Date.now() - 30 * second });
    expect(await world.runBatch({ ports: { slots: { reserve } } })).toMatchObject({ kept: 1 });
    expect(world.requests).toHaveLength(1);
    expect(world.log.lines.at(-1)).toMatchObject({ cause: 'database_unavailable', reason: 'timeout' });
  });

  it('is attempted when its slot is near', async () => {
    await waited();
    expect(await copiesOf({ slots: slotsIn(500) })).toEqual([]);
    await waited();
    expect(await copiesOf({ slots: slotsIn(501) })).toHaveLength(1);
    expect(world.requests).toHaveLength(1);
  });

  it('has waited for us, which is not its age: at its slot it is as old as it was', async () => {
    const began = Date.now();
    await waited({ startedAt: began - hour, notBefore: began });
    const [copy] = await copiesOf({ slots: slotsIn(600 * second) });
    expect(Number(copy?.notBefore) - Number(copy?.startedAt)).toBeGreaterThanOrEqual(hour);
    expect(Number(copy?.notBefore) - Number(copy?.startedAt)).toBeLessThan(hour + 5 * second);
    expect(asked).toMatchObject([{ repeated: true }]);
  });

  it('waits for a far slot in equal steps, and its start does not move with each', async () => {
    const began = Date.now();
    world.now = () => began;
    await waited();
    const [first] = await copiesOf({ slots: slotsIn(4_000 * second) });
    expect(first).toMatchObject({ delaySeconds: 800, notBefore: began + 4_000 * second });
    // Nor is the day that it waited for its first receipt its age.
    expect(Number(first?.notBefore) - Number(first?.startedAt)).toBeLessThan(5 * second);

    world.now = () => began + 800 * second;
    const { group: _, delaySeconds: __, ...copy } = first as NonNullable<typeof first>;
    await world.sendDelivery(webhookId, copy);
    const [next] = await copiesOf({ slots: slotsIn(0) });
    expect(next).toEqual({ ...first, delaySeconds: 800 });
    expect(asked).toHaveLength(1);
  });

  it('is hidden for as long when no copy can be sent', async () => {
    const send = async () => fail({ kind: 'queue_unavailable', reason: 'TimeoutError' } as const);
    await waited();
    const ports = { slots: slotsIn(60 * second) };
    expect(await world.runBatch({ ports, queue: { send } })).toMatchObject({ kept: 1 });
    expect(await world.deliveries.count()).toEqual(hidden);
    expect(world.deliveries.waits()).toEqual([60]);
  });

  it('takes no slot when its circuit is open, or when it cannot be signed', async () => {
    const circuitBreaker = createCircuitBreaker();
    for (const _ of [1, 2])
      circuitBreaker.record(webhookId, { answered: false, reason: 'timeout' }, Date.now());
    await waited();
    await world.runBatch({ ports: { circuitBreaker, slots: slotsIn(0) } });
    await waited();
    world.mac.failing = true;
    await world.runBatch({ ports: { slots: slotsIn(0) } });
    expect(asked).toEqual([]);
    expect(world.requests).toEqual([]);
  });
});

describe('a delivery with a slot', () => {
  const inItsSlot = (change: Partial<Delivery> = {}) => {
    const now = Date.now();
    const times = { acceptedAt: now - 24 * hour, startedAt: now, notBefore: now };
    return world.sendDelivery(webhookId, { ...times, hasSlot: true, ...change });
  };

  it('is attempted in it, and takes no other', async () => {
    await inItsSlot();
    expect(await world.runBatch({ ports: { slots: slotsIn(hour) } })).toMatchObject({ kept: 0 });
    expect(world.requests).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  it('takes another, among those repeated, when it comes too late: the origin was detached again', async () => {
    const slot = Date.now() - 10 * 60 * second;
    await inItsSlot({ startedAt: slot, notBefore: slot });
    const [copy] = await copiesOf({ slots: slotsIn(5 * second) });
    expect(asked).toMatchObject([{ webhookId, repeated: true }]);
    // Nor are those ten minutes its age.
    expect(Number(copy?.notBefore) - Number(copy?.startedAt)).toBeLessThan(5 * second);
  });

  it('takes another when its message comes a second time', async () => {
    await inItsSlot();
    world.answer = { status: 503 };
    await world.runBatch({ ports: { schedule: { minDelay: 0, maxDelay: 0, jitter: 0, giveUpAfter: hour } } });
    await world.runBatch({ ports: { slots: slotsIn(0) } });
    expect(asked).toMatchObject([{ webhookId, repeated: true }]);
  });

  it('has none when it is retried later, nor in the dead-letter queue', async () => {
    world.answer = { status: 503 };
    await inItsSlot({ startedAt: Date.now() - 2 * hour });
    const [copy] = await copiesOf({});
    expect(copy).not.toHaveProperty('hasSlot');
    await inItsSlot({ startedAt: Date.now() - 72 * hour });
    await world.runBatch();
    const [dead] = await world.deadLetters.receive();
    expect(JSON.parse(dead?.body ?? '')).not.toHaveProperty('hasSlot');
  });
});
