import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Redelivery } from '../../domain/event';
import { bind } from '../shared/bind';
import { backoffSeconds } from '../webhooks/backoff';
import { webhookLogCodes } from '../webhooks/log-codes';
import { createDependencies, type Dependencies } from './dependencies';
import { fanOutEvent, redeliverEvent } from './fan-out-event';
import { type AcceptedEvent, readMessage } from './request';

/** Turns the events of a batch, and what operators ask for again, into deliveries. An invalid one goes to the dead-letter queue at once, with the reason. */
export const createHandler =
  ({ ports, events, deadLetters, log, random }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const outcomes = await Promise.all(Records.map(receive));
    const kept = Records.filter((_, index) => outcomes[index] === 'kept');
    return { batchItemFailures: kept.map(({ messageId }) => ({ itemIdentifier: messageId })) };

    async function receive(record: SQSRecord): Promise<'kept' | 'gone'> {
      try {
        const read = readMessage(record);
        if (!read.ok) return await deadLetter(record, read.error);
        const done = 'event' in read.value ? await fanOut(read.value) : await redeliver(read.value);
        return done.ok ? 'gone' : await backOff(record, done.error.kind, done.error.reason);
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

    async function deadLetter(record: SQSRecord, reason: string): Promise<'kept' | 'gone'> {
      const sent = await deadLetters.send([{ body: record.body, group: 'unreadable', reason }]);
      if (!sent.ok) return await backOff(record, sent.error.kind, sent.error.reason);
      const { messageId } = record;
      log.warn('Invalid event', { logCode: webhookLogCodes.eventRefused, messageId, reason });
      return 'gone';
    }

    async function backOff(record: SQSRecord, cause: string, reason: string): Promise<'kept'> {
      const { messageId, receiptHandle, attributes } = record;
      log.warn('Event will be retried', { logCode: webhookLogCodes.eventWaits, messageId, cause, reason });
      await events.hide(receiptHandle, backoffSeconds(Number(attributes.ApproximateReceiveCount), random()));
      return 'kept';
    }
  };

export const handler = bind(createHandler, createDependencies);
