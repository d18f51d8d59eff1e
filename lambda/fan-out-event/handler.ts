import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseEvent, parseRedelivery, type Redelivery, type WebhookEvent } from '../../domain/event';
import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { createLog, logCodes } from '../shared/log';
import { consume, createQueues } from '../shared/queue';
import { readVariables } from '../shared/variables';
import { type FanOutPorts, fanOutEvent, redeliverEvent } from './fan-out-event';
import { createSubscriptions } from './subscriptions-table';
import { variables } from './variables';

export function createDependencies() {
  const urls = readVariables(variables, process.env);
  const queue = createQueues();
  const ports: FanOutPorts = {
    subscriptions: createSubscriptions(connectDatabase(process.env)),
    lanes: { first: queue(urls.DELIVERY_QUEUE_URL), second: queue(urls.RETRY_QUEUE_URL) },
  };
  return {
    ports,
    events: queue(urls.EVENTS_QUEUE_URL),
    deadLetters: queue(urls.EVENTS_DEAD_LETTER_QUEUE_URL),
    log: createLog('fan-out-event'),
    random: Math.random,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** Turns the events of a batch, and the redeliveries that operators request, into deliveries. */
export const createHandler =
  ({ ports, events, deadLetters, log, random }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> =>
    consume<WebhookEvent | Redelivery>(Records, {
      parse: (body) => parseRedelivery(body) ?? parseEvent(body),
      async handle(message, { attributes }) {
        if ('webhookId' in message) {
          const deliveries = await redeliverEvent(message, ports);
          if (!deliveries.ok) return deliveries;
          const line = { logCode: logCodes.eventRedelivered, ...message, deliveries: deliveries.value };
          log.info('Event redelivered', line);
          return deliveries;
        }
        const acceptedAt = Number(attributes.SentTimestamp);
        const deliveries = await fanOutEvent({ event: message, acceptedAt }, ports);
        if (!deliveries.ok) return deliveries;
        const { id: eventId, organizationId, kind } = message;
        const line = { logCode: logCodes.eventFannedOut, eventId, organizationId, kind };
        log.info('Event fanned out', { ...line, deliveries: deliveries.value });
        return deliveries;
      },
      queueOf: () => events,
      deadLetters,
      log,
      logCodes: { refused: logCodes.eventRefused, waits: logCodes.eventWaits },
      random,
    });

export const handler = bind(createHandler, createDependencies);
