import type { SQSRecord } from 'aws-lambda';
import type { Log } from '../shared/log';
import { backoffSeconds } from '../webhooks/backoff';
import { type Delivery, writeDelivery } from '../webhooks/delivery';
import { webhookLogCodes } from '../webhooks/log-codes';
import type { Queue } from '../webhooks/queue';
import { type DeliveryPorts, deliverWebhook } from './deliver-webhook';
import { type ReceivedMessage, retryFromQueue } from './queue-retry';
import { readDelivery } from './request';

export interface ReceivePorts {
  readonly ports: DeliveryPorts;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly log: Log;
}

/** Milliseconds by which a delivery may be early: SQS counts delays in whole seconds. */
const earliness = 1_000;

/**
 * Takes one message of the delivery queue to its end.
 *
 * @returns `kept` when the message is to stay on the queue, hidden as it is; `gone` when it is done with
 */
export async function receive(
  record: SQSRecord,
  { ports, queue, deadLetters, log }: ReceivePorts,
): Promise<'kept' | 'gone'> {
  const read = readDelivery(record, ports.now());
  if (!read.ok) {
    const refused = {
      logCode: webhookLogCodes.deliveryRefused,
      messageId: record.messageId,
      reason: read.error,
    };
    log.error('Webhook delivery refused', refused);
    return deadLetter(record.body, 'unreadable', read.error);
  }
  const message: ReceivedMessage = { receiptHandle: record.receiptHandle, ...read.value };
  const { delivery, startedAt } = message;

  const early = (delivery.notBefore ?? 0) - ports.now();
  if (early > earliness) return retryIn(early);

  const outcome = await deliverWebhook(delivery, startedAt, ports);
  if (!outcome.ok) return backOff(outcome.error.kind, outcome.error.reason);
  if (outcome.value.kind === 'retry') return retryIn(outcome.value.inMs);
  if (outcome.value.kind === 'given_up') {
    return deadLetter(writeDelivery(afresh(delivery)), delivery.webhookId, outcome.value.reason);
  }
  return 'gone';

  async function retryIn(delayMs: number): Promise<'kept' | 'gone'> {
    const place = await retryFromQueue(message, delayMs, { queue, log, now: ports.now() });
    return place === 'kept' ? 'kept' : 'gone';
  }

  async function deadLetter(body: string, group: string, reason: string): Promise<'kept' | 'gone'> {
    const sent = await deadLetters.send([{ body, group, reason }]);
    return sent.ok ? 'gone' : backOff(sent.error.kind, sent.error.reason);
  }

  async function backOff(cause: string, reason: string): Promise<'kept'> {
    const seconds = backoffSeconds(Number(record.attributes.ApproximateReceiveCount), ports.random());
    const { messageId } = record;
    log.error('Webhook delivery waits', { logCode: webhookLogCodes.deliveryWaits, messageId, cause, reason });
    await queue.hide(record.receiptHandle, seconds);
    return 'kept';
  }
}

/** Without its times, so that a delivery that is taken from the dead-letter queue begins anew. */
function afresh({ startedAt: _, notBefore: __, ...delivery }: Delivery): Delivery {
  return delivery;
}
