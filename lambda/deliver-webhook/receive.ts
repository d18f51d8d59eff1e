import type { SQSRecord } from 'aws-lambda';
import { writeDelivery } from '../../domain/delivery';
import type { Log } from '../shared/log';
import { backoffSeconds } from '../webhooks/backoff';
import { webhookLogCodes } from '../webhooks/log-codes';
import type { Queue } from '../webhooks/queue';
import { type DeliveryPorts, deliverWebhook } from './deliver-webhook';
import { type ReceivedMessage, retryFromQueue, sendForSlot } from './queue-retry';
import { readDelivery } from './request';

export interface ReceivePorts {
  readonly ports: DeliveryPorts;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly log: Log;
}

/** Milliseconds by which a message may come before its time: SQS counts delays in whole seconds. */
const delayTolerance = 1_000;

/**
 * Processes one message of the delivery queue.
 *
 * @returns `kept` when the message stays on the queue, hidden until it is retried; `gone` when it can be deleted
 */
export async function receive(
  record: SQSRecord,
  { ports, queue, deadLetters, log }: ReceivePorts,
): Promise<'kept' | 'gone'> {
  const read = readDelivery(record, ports.now());
  if (!read.ok) {
    const { messageId } = record;
    log.error('Invalid webhook delivery', {
      logCode: webhookLogCodes.deliveryRefused,
      messageId,
      reason: read.error,
    });
    return deadLetter(record.body, 'unreadable', read.error);
  }
  const message: ReceivedMessage = { receiptHandle: record.receiptHandle, ...read.value };
  const { delivery } = message;

  const early = (delivery.notBefore ?? 0) - ports.now();
  if (early > delayTolerance) return delivery.hasSlot ? slotIn(message, early) : retryIn(early);

  const step = await deliverWebhook(read.value, ports);
  if (!step.ok) return backOff(step.error.kind, step.error.reason);
  if (step.value.outcome === 'put_off') {
    const { waitMs } = step.value;
    // It waits for us, which does not count as its age.
    return slotIn({ ...message, startedAt: message.startedAt + waitMs }, waitMs);
  }
  if (step.value.outcome === 'failed') return retryIn(step.value.retryInMs);
  if (step.value.outcome === 'given_up') {
    // Without its times, a delivery that is moved back from the dead-letter queue starts over.
    const { startedAt: _, notBefore: __, hasSlot: ___, ...untried } = delivery;
    return deadLetter(writeDelivery(untried), delivery.webhookId, step.value.reason);
  }
  return 'gone';

  function retryIn(delayMs: number): Promise<'kept' | 'gone'> {
    return retryFromQueue(message, delayMs, { queue, log, now: ports.now() });
  }

  function slotIn(paced: ReceivedMessage, waitMs: number): Promise<'kept' | 'gone'> {
    return sendForSlot(paced, waitMs, { queue, log, now: ports.now() });
  }

  async function deadLetter(body: string, group: string, reason: string): Promise<'kept' | 'gone'> {
    const sent = await deadLetters.send([{ body, group, reason }]);
    return sent.ok ? 'gone' : backOff(sent.error.kind, sent.error.reason);
  }

  async function backOff(cause: string, reason: string): Promise<'kept'> {
    const seconds = backoffSeconds(Number(record.attributes.ApproximateReceiveCount), ports.random());
    const { messageId } = record;
    log.error('Webhook delivery will be retried', {
      logCode: webhookLogCodes.deliveryWaits,
      messageId,
      cause,
      reason,
    });
    await queue.hide(record.receiptHandle, seconds);
    return 'kept';
  }
}
