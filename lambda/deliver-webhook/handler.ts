import { Metrics } from '@aws-lambda-powertools/metrics';
import { KMSClient } from '@aws-sdk/client-kms';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { newToken, parseDelivery, retrySchedule, writeDelivery } from '../../domain/delivery';
import { type Measured, metricNamespace } from '../../domain/metrics';
import { localReceiversVariable } from '../../domain/receiver-url';
import { connectDatabase } from '../database/connect';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, logCodes } from '../shared/log';
import { consume, createQueues, maxDelaySeconds } from '../shared/queue';
import { readVariables } from '../shared/variables';
import { createWebhookSecrets } from '../shared/webhook-secrets';
import { deliverWebhook, type QueueName } from './deliver-webhook';
import type { DeliveryPorts } from './ports';
import { createReceivers } from './receivers';
import { variables, visibilitySeconds } from './variables';
import { createWebhooks } from './webhooks-table';

/** The dimension `environment` keeps alarms from counting another environment's metrics in the same account. */
export const createMetrics = (environment: string) =>
  new Metrics({
    namespace: metricNamespace,
    serviceName: 'deliver-webhook' satisfies Measured,
    defaultDimensions: { environment },
  });

export function createDependencies() {
  const names = readVariables(variables, process.env);
  const queue = createQueues();
  const metrics = createMetrics(names.ENVIRONMENT);
  const ports: DeliveryPorts = {
    webhooks: createWebhooks(connectDatabase(process.env, { resumeTimeout: 0 })),
    secrets: createWebhookSecrets({ kms: new KMSClient({}), keyId: names.WEBHOOK_SECRETS_KEY_ID }),
    receivers: createReceivers({ allowLocal: process.env[localReceiversVariable] === 'allowed' }),
    events: queue(names.EVENTS_QUEUE_URL),
    log: createLog('deliver-webhook'),
    metrics,
    now: Date.now,
    random: Math.random,
    newToken,
    schedule: retrySchedule,
  };
  return {
    ports,
    log: ports.log,
    queues: { delivery: queue(names.DELIVERY_QUEUE_URL), retry: queue(names.RETRY_QUEUE_URL) },
    retryQueueUrl: names.RETRY_QUEUE_URL,
    deadLetters: queue(names.DELIVERY_DEAD_LETTER_QUEUE_URL),
    metrics,
  };
}

export type Dependencies = Omit<ReturnType<typeof createDependencies>, 'log'>;

/** Attempts the deliveries of a batch concurrently. */
export const createHandler =
  ({ ports, queues, retryQueueUrl, deadLetters, metrics }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const response = await consume(Records, {
      parse: parseDelivery,
      async handle(delivery, record) {
        const again = Number(record.attributes.ApproximateReceiveCount) > 1;
        const outcome = await deliverWebhook(delivery, { queue: queueName(record), again }, ports);
        if (!outcome.ok || outcome.value.kind === 'done') return outcome;
        // A delayed copy: hidden messages count against the queue's limit of 120,000 in flight.
        const { delivery: next, delayMs } = outcome.value;
        const delaySeconds = Math.min(delayMs / 1_000, maxDelaySeconds);
        const copy = { body: writeDelivery(next), group: next.webhookId, delaySeconds };
        const sent = await queues.retry.send([copy]);
        return sent.ok ? sent : { ...sent, error: { ...sent.error, retryInSeconds: delaySeconds } };
      },
      queueOf: (record) => queues[queueName(record)],
      deadLetters,
      log: ports.log,
      logCodes: { refused: logCodes.webhookDeliveryRefused, waits: logCodes.webhookDeliveryWaits },
      random: ports.random,
      visibilitySeconds,
    });
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
    return response;

    /** The name of a queue is the last part of its ARN and of its URL. */
    function queueName({ eventSourceARN }: SQSRecord): QueueName {
      return eventSourceARN.split(':').at(-1) === retryQueueUrl.split('/').at(-1) ? 'retry' : 'delivery';
    }
  };

export const handler = bindDependencies(createHandler, createDependencies);
