import type { SQSRecord } from 'aws-lambda';
import { ok, type Result } from '../shared/result';
import { type Delivery, parseDelivery } from '../webhooks/delivery';

export interface ReceivedDelivery {
  readonly delivery: Delivery;
  /**
   * When the delivery was first taken from the queue: milliseconds since 1970. Retries count from here, so that the
   * time for which it waited for our consumer is not held against the receiver.
   */
  readonly startedAt: number;
}

/** Reads a message of the delivery queue. The error is the reason for the dead-letter queue. */
export function readDelivery({ body, attributes }: SQSRecord): Result<ReceivedDelivery, string> {
  const delivery = parseDelivery(body);
  if (!delivery.ok) return delivery;
  const startedAt = delivery.value.startedAt ?? Number(attributes.ApproximateFirstReceiveTimestamp);
  return ok({ delivery: delivery.value, startedAt });
}
