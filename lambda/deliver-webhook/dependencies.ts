import { Metrics } from '@aws-lambda-powertools/metrics';
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { localReceiversVariable } from '../../domain/receiver-url';
import { connectDatabase } from '../database/connect';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { once } from '../shared/once';
import { createQueue } from '../webhooks/queue';
import { createWebhookSecrets } from '../webhooks/webhook-secrets';
import { createCircuitBreaker } from './circuit-breaker';
import type { DeliveryPorts } from './deliver-webhook';
import { createDeliveryLog, metricsNamespace } from './delivery-log';
import { variables } from './environment';
import { retrySchedule } from './next-step';
import { pace } from './pace';
import { createReceivers } from './receivers';
import { createSlots } from './slots-table';
import { createWebhooks } from './webhooks-table';

export function createDependencies() {
  const names = readVariables(variables, process.env);
  // A delivery that arrives needs no queue.
  const sqs = once(() => new SQSClient({}));
  const log = createLog('deliver-webhook');
  const metrics = new Metrics({ namespace: metricsNamespace, serviceName: 'deliver-webhook' });
  const database = connectDatabase(process.env);
  const ports: DeliveryPorts = {
    webhooks: createWebhooks(database),
    events: createQueue({ sqs, url: names.EVENTS_QUEUE_URL }),
    slots: createSlots(database),
    secrets: createWebhookSecrets({ kms: new KMSClient({}), keyId: names.WEBHOOK_SECRETS_KEY_ID }),
    receivers: createReceivers({ allowLocal: process.env[localReceiversVariable] === 'allowed' }),
    circuitBreaker: createCircuitBreaker(),
    deliveryLog: createDeliveryLog(log, metrics),
    now: Date.now,
    random: Math.random,
    schedule: retrySchedule,
    pace,
  };
  return {
    ports,
    queue: createQueue({ sqs, url: names.DELIVERY_QUEUE_URL }),
    deadLetters: createQueue({ sqs, url: names.DELIVERY_DEAD_LETTER_QUEUE_URL }),
    log,
    metrics,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
