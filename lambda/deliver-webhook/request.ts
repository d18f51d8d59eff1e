import type { SQSRecord } from 'aws-lambda';
import { ok, type Result } from '../shared/result';
import { type Delivery, parseDelivery } from '../webhooks/delivery';

export interface ReceivedDelivery {
  readonly delivery: Delivery;
  /**
   * When the delivery was first taken from the queue, later by the time for which it waited for us since: milliseconds
   * since 1970. Retries count from here, so that no outage of ours is held against the receiver.
   */
  readonly startedAt: number;
}

/**
 * Milliseconds that a delivery is on its way at most, from its start or from the time it was put off to, while all is
 * well. Its next delay is its age, of which jitter takes a fifth: it is hidden once more for 15 minutes when it is 19
 * minutes old, and put off when it is 34 (`queue-retry.ts`). The rest is for busy moments.
 */
const longestWay = 40 * 60_000;

/**
 * Reads a message of the delivery queue. A delivery that comes later than it can by itself has waited for us: the
 * consumer was off, or what it needs could not be reached. The error is the reason for the dead-letter queue.
 *
 * @param now milliseconds since 1970
 */
export function readDelivery({ body, attributes }: SQSRecord, now: number): Result<ReceivedDelivery, string> {
  const read = parseDelivery(body);
  if (!read.ok) return read;
  const delivery = read.value;
  const startedAt = delivery.startedAt ?? Number(attributes.ApproximateFirstReceiveTimestamp);
  const waitedForUs = Math.max(0, now - (delivery.notBefore ?? startedAt) - longestWay);
  return ok({ delivery, startedAt: startedAt + waitedForUs });
}
