import { SQSClient } from '@aws-sdk/client-sqs';
import { connectDatabase } from '../database/connect';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { once } from '../shared/once';
import { createQueue } from '../webhooks/queue';
import { variables } from './environment';
import { createSubscriptions } from './subscriptions-table';

export function createDependencies() {
  const urls = readVariables(variables, process.env);
  const sqs = once(() => new SQSClient({}));
  return {
    ports: {
      subscriptions: createSubscriptions(connectDatabase(process.env)),
      deliveries: createQueue({ sqs, url: urls.DELIVERY_QUEUE_URL }),
    },
    events: createQueue({ sqs, url: urls.EVENTS_QUEUE_URL }),
    deadLetters: createQueue({ sqs, url: urls.EVENTS_DEAD_LETTER_QUEUE_URL }),
    log: createLog('fan-out-event'),
    random: Math.random,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
