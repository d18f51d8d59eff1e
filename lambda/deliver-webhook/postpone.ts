import { type Delivery, writeDelivery } from '../webhooks/delivery';
import type { Queue } from '../webhooks/queue';

/** A delivery's message, as it was received. */
export interface ReceivedMessage {
  readonly receiptHandle: string;
  readonly delivery: Delivery;
  readonly startedAt: number;
}

/** The longest `DelaySeconds` of SQS. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html */
const longestDelayMs = 15 * 60_000;

/**
 * Lets a delivery wait. Up to 15 minutes its message is hidden. Longer waits are for a copy that is sent with a delay,
 * again and again until the time has come: a hidden message counts as in flight, of which a queue has 120,000, and one
 * busy receiver that is away for a day would stop everybody's deliveries. A delayed message does not count.
 *
 * @returns `kept` when the message stays on the queue, `replaced` when the copy has taken its place
 */
export async function postpone(
  { receiptHandle, delivery, startedAt }: ReceivedMessage,
  delayMs: number,
  { queue, now }: { readonly queue: Queue; readonly now: number },
): Promise<'kept' | 'replaced'> {
  if (delayMs > longestDelayMs) {
    const copy: Delivery = { ...delivery, startedAt, notBefore: Math.round(now + delayMs) };
    const sent = await queue.send([
      { body: writeDelivery(copy), group: delivery.webhookId, delaySeconds: longestDelayMs / 1_000 },
    ]);
    if (sent.ok) return 'replaced';
  }
  await queue.hide(receiptHandle, Math.min(delayMs, longestDelayMs) / 1_000);
  return 'kept';
}
