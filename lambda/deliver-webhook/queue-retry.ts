import type { Log } from '../shared/log';
import { type Delivery, writeDelivery } from '../webhooks/delivery';
import { webhookLogCodes } from '../webhooks/log-codes';
import type { Queue } from '../webhooks/queue';

/** A delivery's message as received. */
export interface ReceivedMessage {
  readonly receiptHandle: string;
  readonly delivery: Delivery;
  readonly startedAt: number;
}

/** The longest `DelaySeconds` of SQS. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html */
const longestDelayMs = 15 * 60_000;

/**
 * Retries a delivery later. Up to 15 minutes its message is hidden. For longer a copy is sent with a delay, repeatedly
 * until the time has come: a hidden message counts as in flight, of which a queue allows 120,000, so one busy receiver
 * that is down for a day would stop all deliveries. A delayed message does not count. When the copy cannot be sent, the
 * message is hidden for 15 minutes, and then attempted.
 *
 * @returns `kept` when the message stays on the queue, `gone` when the copy has taken its place
 */
export async function retryFromQueue(
  { receiptHandle, delivery, startedAt }: ReceivedMessage,
  delayMs: number,
  { queue, log, now }: { readonly queue: Queue; readonly log: Log; readonly now: number },
): Promise<'kept' | 'gone'> {
  if (delayMs > longestDelayMs) {
    const copy: Delivery = { ...delivery, startedAt, notBefore: Math.round(now + delayMs) };
    const sent = await queue.send([
      { body: writeDelivery(copy), group: delivery.webhookId, delaySeconds: longestDelayMs / 1_000 },
    ]);
    if (sent.ok) return 'gone';
    const { kind: cause, reason } = sent.error;
    const { webhookId, deliveryId } = delivery;
    const line = { logCode: webhookLogCodes.deliveryWaits, webhookId, deliveryId, cause, reason };
    log.error('Webhook delivery will be retried too early, in 15 minutes', line);
  }
  await queue.hide(receiptHandle, Math.min(delayMs, longestDelayMs) / 1_000);
  return 'kept';
}
