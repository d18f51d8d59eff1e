import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { newToken } from '../../domain/delivery';
import { parseEvent, parseRedelivery, type Redelivery, type WebhookEvent } from '../../domain/event';
import { fail, ok } from '../../domain/result';
import { connectDatabase } from '../database/connect';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, logCodes } from '../shared/log';
import { consume, createQueues } from '../shared/queue';
import { readVariables } from '../shared/variables';
import { type FanOutPorts, fanOutEvent, redeliverEvent } from './fan-out-event';
import { createSubscriptions } from './subscriptions-table';
import { variables, visibilitySeconds } from './variables';

export function createDependencies() {
  const urls = readVariables(variables, process.env);
  const queue = createQueues();
  const ports: FanOutPorts = {
    subscriptions: createSubscriptions(connectDatabase(process.env, { resumeTimeout: 0 })),
    queues: { delivery: queue(urls.DELIVERY_QUEUE_URL), retry: queue(urls.RETRY_QUEUE_URL) },
    newToken,
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
      async handle(message, { attributes, messageId }) {
        if ('webhookId' in message) {
          // The release before wrote none: the message's own id is the same however often it is received.
          const deliveries = await redeliverEvent({ series: messageId, ...message }, ports);
          if (!deliveries.ok) return deliveries;
          const line = { logCode: logCodes.eventRedelivered, ...message, deliveries: deliveries.value };
          log.info('Event redelivered', line);
          return deliveries;
        }
        const acceptedAt = Number(attributes.SentTimestamp);
        const deliveries = await fanOutEvent({ event: message, acceptedAt, messageId }, ports);
        const { id: eventId, organizationId, kind } = message;
        if (!deliveries.ok) {
          if (deliveries.error.kind !== 'unconfirmed') return fail(deliveries.error);
          const line = { logCode: logCodes.eventUnconfirmed, messageId, eventId, organizationId, kind };
          log.warn('Event dropped', line);
          return ok(0);
        }
        const line = { logCode: logCodes.eventFannedOut, eventId, organizationId, kind };
        log.info('Event fanned out', { ...line, deliveries: deliveries.value });
        return deliveries;
      },
      queueOf: () => events,
      deadLetters,
      log,
      logCodes: { refused: logCodes.eventRefused, waits: logCodes.eventWaits },
      random,
      visibilitySeconds,
    });

export const handler = bindDependencies(createHandler, createDependencies);
