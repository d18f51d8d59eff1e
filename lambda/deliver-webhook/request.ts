import type { SQSRecord } from 'aws-lambda';
import { type Delivery, parseDelivery } from '../../domain/delivery';
import { ok, type Result } from '../../domain/result';

export interface ReceivedDelivery {
  readonly delivery: Delivery;
  /**
   * When the delivery was first received, later by the time of our outages since: milliseconds since 1970. Retries count
   * from here, so that our outages cost a receiver no attempt.
   */
  readonly startedAt: number;
  /** As this message, or as one that it is a copy of. */
  readonly receivedBefore: boolean;
  /** The slot that this message was sent for, at its first receipt: milliseconds since 1970. */
  readonly slotAt?: number;
}

/**
 * Milliseconds from a delivery's start, or its `notBefore`, to its receipt, at most and without an outage. Its next delay
 * is its age, less a fifth by jitter: at 75 seconds it is hidden once more for a minute, and after that it becomes a
 * delayed copy (`queue-retry.ts`). The rest is for busy moments.
 */
const maxTransit = 15 * 60_000;

/**
 * Reads a message of the delivery queue. A delivery that comes later than it can by itself was held up by us: the
 * consumer was off, or the database, KMS or SQS was unavailable. The error is the reason for the dead-letter queue.
 *
 * @param now milliseconds since 1970
 */
export function readDelivery({ body, attributes }: SQSRecord, now: number): Result<ReceivedDelivery, string> {
  const read = parseDelivery(body);
  if (!read.ok) return read;
  const delivery = read.value;
  const startedAt = delivery.startedAt ?? Number(attributes.ApproximateFirstReceiveTimestamp);
  const isFirstReceipt = attributes.ApproximateReceiveCount === '1';
  const slotAt = delivery.hasSlot && isFirstReceipt ? delivery.notBefore : undefined;
  const due = slotAt ?? (delivery.notBefore ?? startedAt) + maxTransit;
  return ok({
    delivery,
    startedAt: startedAt + Math.max(0, now - due),
    receivedBefore: delivery.startedAt !== undefined || !isFirstReceipt,
    ...(slotAt === undefined ? {} : { slotAt }),
  });
}
