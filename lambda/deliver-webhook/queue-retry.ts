import { type Delivery, writeDelivery } from '../../domain/delivery';
import type { Log } from '../shared/log';
import { webhookLogCodes } from '../webhooks/log-codes';
import type { Queue } from '../webhooks/queue';
import type { ReceivedDelivery } from './request';

/** A delivery's message as received. */
export interface ReceivedMessage extends Pick<ReceivedDelivery, 'delivery' | 'startedAt'> {
  readonly receiptHandle: string;
}

interface QueuePorts {
  readonly queue: Queue;
  readonly log: Log;
  readonly now: number;
}

/** The longest `DelaySeconds` of SQS. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html */
const longestDelayMs = 15 * 60_000;
/** The longest that a message is hidden for its retry. */
export const longestHiddenMs = 60_000;

/**
 * Retries a delivery later. Up to a minute its message is hidden. For longer a copy is sent with a delay, repeatedly until
 * the time has come: a hidden message counts as in flight, of which a queue allows 120,000, so receivers that are down
 * would stop all deliveries. A delayed message does not count. When the copy cannot be sent, the message is hidden for as
 * long as the copy's delay, and then attempted.
 *
 * @returns `kept` when the message stays on the queue, `gone` when the copy has taken its place
 */
export async function retryFromQueue(
  message: ReceivedMessage,
  delayMs: number,
  ports: QueuePorts,
): Promise<'kept' | 'gone'> {
  if (delayMs > longestHiddenMs) {
    const { hasSlot: _, ...delivery } = message.delivery;
    const { startedAt } = message;
    const notBefore = Math.round(ports.now + delayMs);
    const copy = { ...delivery, startedAt, notBefore };
    return sendCopy(message, copy, Math.min(delayMs, longestDelayMs), ports);
  }
  await ports.queue.hide(message.receiptHandle, delayMs / 1_000);
  return 'kept';
}

/**
 * Sends a delivery again for its slot, as a copy however short the wait is: many that wait for their slots would be too
 * many in flight. A wait longer than a delay can be is cut into equal ones, so that those of many do not end at once.
 */
export function sendForSlot(
  message: ReceivedMessage,
  waitMs: number,
  ports: QueuePorts,
): Promise<'kept' | 'gone'> {
  const { delivery, startedAt } = message;
  const copy = { ...delivery, startedAt, notBefore: ports.now + waitMs, hasSlot: true };
  return sendCopy(message, copy, waitMs / Math.ceil(waitMs / longestDelayMs), ports);
}

/** Puts a delayed copy in the message's place, or hides the message for as long when that fails. */
async function sendCopy(
  { receiptHandle }: ReceivedMessage,
  copy: Delivery,
  delayMs: number,
  { queue, log }: QueuePorts,
): Promise<'kept' | 'gone'> {
  const { webhookId, deliveryId } = copy;
  const delaySeconds = delayMs / 1_000;
  const sent = await queue.send([{ body: writeDelivery(copy), group: webhookId, delaySeconds }]);
  if (sent.ok) return 'gone';
  const { kind: cause, reason } = sent.error;
  const line = { logCode: webhookLogCodes.deliveryWaits, webhookId, deliveryId, cause, reason };
  log.error('Webhook delivery could not be sent again with a delay, and is hidden instead', line);
  await queue.hide(receiptHandle, delaySeconds);
  return 'kept';
}
