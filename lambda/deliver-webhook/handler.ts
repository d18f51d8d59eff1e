import { Metrics } from '@aws-lambda-powertools/metrics';
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseDelivery, writeDelivery } from '../../domain/delivery';
import { localReceiversVariable } from '../../domain/receiver-url';
import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { once } from '../shared/once';
import { webhookLogCodes } from '../webhooks/log-codes';
import { backoffSeconds, createQueue, longestDelaySeconds, type Queue } from '../webhooks/queue';
import { createWebhookSecrets } from '../webhooks/webhook-secrets';
import { type DeliveryPorts, deliverWebhook, type Fate, type Lane } from './deliver-webhook';
import { variables } from './environment';
import { retrySchedule } from './next-step';
import { createReceivers } from './receivers';
import { createWebhooks } from './webhooks-table';

/** The namespace of the functions' own metrics in CloudWatch. */
export const metricsNamespace = 'WalletWebhooks';

export interface Dependencies {
  readonly ports: DeliveryPorts;
  readonly lanes: Readonly<Record<Lane, Queue>>;
  /** The queue that feeds the second lane. */
  readonly secondLaneUrl: string;
  readonly deadLetters: Queue;
  readonly metrics: Metrics;
}

export function createDependencies(): Dependencies {
  const names = readVariables(variables, process.env);
  // A delivery that arrives needs no queue.
  const sqs = once(() => new SQSClient({}));
  const queue = (url: string) => createQueue({ sqs, url });
  const metrics = new Metrics({ namespace: metricsNamespace, serviceName: 'deliver-webhook' });
  return {
    ports: {
      webhooks: createWebhooks(connectDatabase(process.env)),
      secrets: createWebhookSecrets({ kms: new KMSClient({}), keyId: names.WEBHOOK_SECRETS_KEY_ID }),
      receivers: createReceivers({ allowLocal: process.env[localReceiversVariable] === 'allowed' }),
      events: queue(names.EVENTS_QUEUE_URL),
      log: createLog('deliver-webhook'),
      metrics,
      now: Date.now,
      random: Math.random,
      schedule: retrySchedule,
    },
    lanes: { first: queue(names.DELIVERY_QUEUE_URL), second: queue(names.RETRY_QUEUE_URL) },
    secondLaneUrl: names.RETRY_QUEUE_URL,
    deadLetters: queue(names.DELIVERY_DEAD_LETTER_QUEUE_URL),
    metrics,
  };
}

/** Attempts the deliveries of a batch side by side. What cannot be read goes to the dead-letter queue at once, with the reason. */
export const createHandler =
  ({ ports, lanes, secondLaneUrl, deadLetters, metrics }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const { log } = ports;
    const outcomes = await Promise.all(Records.map(receive));
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    const retried = Records.filter((_, index) => outcomes[index] === 'retry');
    return { batchItemFailures: retried.map(({ messageId }) => ({ itemIdentifier: messageId })) };

    /** A message that is `done` is deleted; the other is hidden until it is received again. */
    async function receive(record: SQSRecord): Promise<'done' | 'retry'> {
      const lane = nameOf(record.eventSourceARN, ':') === nameOf(secondLaneUrl, '/') ? 'second' : 'first';
      const seconds = backoffSeconds(Number(record.attributes.ApproximateReceiveCount), ports.random());
      try {
        const read = parseDelivery(record.body);
        if (!read.ok) return await setAside(record, lane, read.error, seconds);
        const fate = await deliverWebhook(read.value, lane, ports);
        if (!fate.ok) return await hide(record, lane, fate.error, seconds);
        return fate.value.kind === 'done' ? 'done' : await replace(record, lane, fate.value);
      } catch (error) {
        return await hide(record, lane, { kind: 'internal_error', error: error as Error }, seconds);
      }
    }

    async function setAside(record: SQSRecord, lane: Lane, reason: string, seconds: number) {
      const { messageId, body } = record;
      log.error('Invalid webhook delivery', { logCode: webhookLogCodes.deliveryRefused, messageId, reason });
      const sent = await deadLetters.send([{ body, group: 'unreadable', reason }]);
      return sent.ok ? 'done' : hide(record, lane, sent.error, seconds);
    }

    /** A copy with a delay, because a hidden message counts as in flight, of which a queue allows 120,000. */
    async function replace(record: SQSRecord, lane: Lane, { delivery, delayMs }: Fate & { kind: 'again' }) {
      const delaySeconds = Math.min(delayMs / 1_000, longestDelaySeconds);
      const copy = { body: writeDelivery(delivery), group: delivery.webhookId, delaySeconds };
      const sent = await lanes.second.send([copy]);
      return sent.ok ? 'done' : hide(record, lane, sent.error, delaySeconds);
    }

    async function hide(
      { messageId, receiptHandle }: SQSRecord,
      lane: Lane,
      { kind: cause, ...why }: { readonly kind: string; readonly reason?: string; readonly error?: Error },
      seconds: number,
    ) {
      const line = { logCode: webhookLogCodes.deliveryWaits, messageId, cause, ...why };
      log.error('Webhook delivery will be received again', line);
      await lanes[lane].hide(receiptHandle, seconds);
      return 'retry' as const;
    }
  };

/** The name of a queue is the last part of its ARN and of its URL. */
const nameOf = (text: string, separator: string) => text.slice(text.lastIndexOf(separator) + 1);

export const handler = bind(createHandler, () => {
  const dependencies = createDependencies();
  return { ...dependencies, log: dependencies.ports.log };
});
