import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseEvent, parseRedelivery, type Redelivery } from '../../domain/event';
import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { once } from '../shared/once';
import { webhookLogCodes } from '../webhooks/log-codes';
import { backoffSeconds, createQueue } from '../webhooks/queue';
import { variables } from './environment';
import { type AcceptedEvent, type FanOutPorts, fanOutEvent, redeliverEvent } from './fan-out-event';
import { createSubscriptions } from './subscriptions-table';

export function createDependencies() {
  const urls = readVariables(variables, process.env);
  const sqs = once(() => new SQSClient({}));
  const queue = (url: string) => createQueue({ sqs, url });
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

/** Turns the events of a batch, and what operators ask for again, into deliveries. An invalid one goes to the dead-letter queue at once, with the reason. */
export const createHandler =
  ({ ports, events, deadLetters, log, random }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const outcomes = await Promise.all(Records.map(receive));
    const retried = Records.filter((_, index) => outcomes[index] === 'retry');
    return { batchItemFailures: retried.map(({ messageId }) => ({ itemIdentifier: messageId })) };

    async function receive(record: SQSRecord): Promise<'retry' | 'done'> {
      try {
        const redelivery = parseRedelivery(record.body);
        const read = redelivery ?? parseEvent(record.body);
        if (!read.ok) return await deadLetter(record, read.error);
        const acceptedAt = Number(record.attributes.SentTimestamp);
        const done =
          'text' in read.value
            ? await fanOut({ event: read.value, acceptedAt })
            : await redeliver(read.value);
        return done.ok ? 'done' : await backOff(record, done.error.kind, done.error.reason);
      } catch (error) {
        log.error('Event failed with an internal error', {
          logCode: webhookLogCodes.eventWaits,
          error: error as Error,
        });
        return await backOff(record, 'internal_error', (error as Error).name);
      }
    }

    async function fanOut(accepted: AcceptedEvent) {
      const { id: eventId, organizationId, kind } = accepted.event;
      const deliveries = await fanOutEvent(accepted, ports);
      if (deliveries.ok) {
        const line = { logCode: webhookLogCodes.eventFannedOut, eventId, organizationId, kind };
        log.info('Event fanned out', { ...line, deliveries: deliveries.value });
      }
      return deliveries;
    }

    async function redeliver(redelivery: Redelivery) {
      const deliveries = await redeliverEvent(redelivery, ports);
      if (deliveries.ok) {
        const line = { logCode: webhookLogCodes.eventRedelivered, ...redelivery };
        log.info('Event redelivered', { ...line, deliveries: deliveries.value });
      }
      return deliveries;
    }

    async function deadLetter(record: SQSRecord, reason: string): Promise<'retry' | 'done'> {
      const sent = await deadLetters.send([{ body: record.body, group: 'unreadable', reason }]);
      if (!sent.ok) return await backOff(record, sent.error.kind, sent.error.reason);
      const { messageId } = record;
      log.warn('Invalid event', { logCode: webhookLogCodes.eventRefused, messageId, reason });
      return 'done';
    }

    async function backOff(record: SQSRecord, cause: string, reason: string): Promise<'retry'> {
      const { messageId, receiptHandle, attributes } = record;
      log.warn('Event will be retried', { logCode: webhookLogCodes.eventWaits, messageId, cause, reason });
      await events.hide(receiptHandle, backoffSeconds(Number(attributes.ApproximateReceiveCount), random()));
      return 'retry';
    }
  };

export const handler = bind(createHandler, createDependencies);
