import type { SQSRecord } from 'aws-lambda';
import fc from 'fast-check';
import { type Delivery, writeDelivery } from '../../../domain/delivery';
import { ok } from '../../../domain/result';
import { nextStep } from '../../../lambda/deliver-webhook/next-step';
import { retryFromQueue } from '../../../lambda/deliver-webhook/queue-retry';
import { readDelivery } from '../../../lambda/deliver-webhook/request';
import type { Queue } from '../../../lambda/webhooks/queue';
import { recordLog } from '../../support/log';

const minute = 60_000;
const hour = 60 * minute;
const began = Date.UTC(2026, 0, 1);

/** A delivery's message, and the time, at a receiver that always answers 503. */
class FailingDelivery {
  now = began;
  private body = writeDelivery({
    deliveryId: 'msg_0123456789abcdef0123456789abcdef',
    webhookId: 'wh-aaaaa-bbbbb-cccccccccccccc',
    eventId: 'ev-1',
    acceptedAt: began,
    body: '{}',
  });
  private firstReceived = began;

  read() {
    const attributes = { ApproximateFirstReceiveTimestamp: String(this.firstReceived) };
    const read = readDelivery({ body: this.body, attributes } as SQSRecord, this.now);
    if (!read.ok) throw new Error(read.error);
    return read.value;
  }

  /** One attempt, or another delay of a copy that is early. `undefined` when it is given up. */
  async attempt(random: number, retryAfter?: string): Promise<'delayed' | 'failed' | undefined> {
    const { delivery, startedAt } = this.read();
    const early = (delivery.notBefore ?? 0) - this.now;
    if (early > 1_000) {
      await this.retryLater(delivery, startedAt, early);
      return 'delayed';
    }
    const result = {
      answered: true,
      status: 503,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    } as const;
    const step = nextStep(result, { now: this.now, startedAt, random });
    if (step.outcome !== 'failed') return undefined;
    await this.retryLater(delivery, startedAt, step.retryInMs);
    return 'failed';
  }

  /** Makes so many attempts, or all until it is given up, and counts them. */
  async failures(most = Number.POSITIVE_INFINITY): Promise<number> {
    let failures = 0;
    while (failures < most) {
      const came = await this.attempt(0.5);
      if (!came) break;
      if (came === 'failed') failures += 1;
    }
    return failures;
  }

  /** Is delayed until its next attempt is due. */
  async comeDue(): Promise<void> {
    const { notBefore = 0 } = this.read().delivery;
    while (notBefore > this.now) await this.attempt(0.5);
  }

  private async retryLater(delivery: Delivery, startedAt: number, delayMs: number): Promise<void> {
    const { now } = this;
    const log = recordLog();
    const queue: Queue = {
      send: async ([copy]) => {
        this.body = copy?.body ?? '';
        this.now += (copy?.delaySeconds ?? 0) * 1_000;
        this.firstReceived = this.now;
        return ok(null);
      },
      hide: async (_, seconds) => {
        this.now += Math.ceil(seconds) * 1_000;
        return ok(null);
      },
    };
    await retryFromQueue({ receiptHandle: 'r', delivery, startedAt }, delayMs, { queue, log, now });
  }
}

const random = fc.double({ min: 0, max: 1, noNaN: true });
const retryAfter = fc.option(
  fc.integer({ min: 0, max: 8 * 3_600 }).map((seconds) => String(seconds)),
  { nil: undefined },
);
/** Milliseconds between the time that a message is due and its receipt, in a busy moment. */
const lateness = fc.integer({ min: 0, max: 5 * minute });

describe('the age of a delivery', () => {
  it('is the time since its start while all is well: it is given up at 72 hours', async () => {
    const turn = fc.record({ random, retryAfter, lateness });
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(turn), async (turns) => {
        const delivery = new FailingDelivery();
        for (const { random, retryAfter, lateness } of turns) {
          expect(delivery.read().startedAt).toBe(began);
          if (!(await delivery.attempt(random, retryAfter))) break;
          delivery.now += lateness;
        }
        expect(delivery.now - began).toBeGreaterThanOrEqual(72 * hour);
        expect(delivery.now - began).toBeLessThan(72.2 * hour);
      }),
      { numRuns: 100 },
    );
  });

  it('is the time since its start in the worst case: hidden twice, as late as it can be', async () => {
    const delivery = new FailingDelivery();
    await delivery.attempt(0, '60');
    await delivery.attempt(0);
    delivery.now += 5 * minute;
    await delivery.attempt(0);
    delivery.now += 5 * minute;
    expect(delivery.now - began).toBeGreaterThan(11 * minute);
    expect(delivery.read().startedAt).toBe(began);
  });

  it.each([1, 5, 10, 20])('leaves out three days of our outage after %d attempts', async (attempts) => {
    const delivery = new FailingDelivery();
    expect(await delivery.failures(attempts)).toBe(attempts);
    await delivery.comeDue();
    delivery.now += 72 * hour;
    expect(await delivery.failures()).toBeGreaterThan(2);
    expect(delivery.now - began).toBeGreaterThan((72 + 71) * hour);
    expect(delivery.now - began).toBeLessThan((72 + 73) * hour);
  });
});
