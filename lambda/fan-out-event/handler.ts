import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { bind } from '../shared/bind';
import { backoffSeconds } from '../webhooks/backoff';
import { webhookLogCodes } from '../webhooks/log-codes';
import { createDependencies, type Dependencies } from './dependencies';
import { fanOutEvent } from './fan-out-event';
import { readEvent } from './request';

type Outcome = 'done' | 'waits';

/** Turns the events of a batch into deliveries. One that does not parse is set aside with the reason, at once. */
export const createHandler =
  ({ ports, events, deadLetters, log, random }: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const outcomes = await Promise.all(Records.map(accept));
    const waiting = Records.filter((_, index) => outcomes[index] === 'waits');
    return { batchItemFailures: waiting.map(({ messageId }) => ({ itemIdentifier: messageId })) };

    async function accept(record: SQSRecord): Promise<Outcome> {
      try {
        const read = readEvent(record);
        if (!read.ok) return await setAside(record, read.error);

        const { event, acceptedAt } = read.value;
        const ids = { eventId: event.id, organizationId: event.organizationId };
        const deliveries = await fanOutEvent(event, acceptedAt, ports);
        if (!deliveries.ok) return await wait(record, deliveries.error.kind, deliveries.error.reason);
        log.info('Event fanned out', {
          logCode: webhookLogCodes.eventFannedOut,
          ...ids,
          kind: event.kind,
          deliveries: deliveries.value,
        });
        return 'done';
      } catch (error) {
        log.error('Event failed by a bug', { logCode: webhookLogCodes.eventWaits, error: error as Error });
        return await wait(record, 'internal_error', 'a bug');
      }
    }

    async function setAside(record: SQSRecord, reason: string): Promise<Outcome> {
      const sent = await deadLetters.send([{ body: record.body, group: 'unreadable', reason }]);
      if (!sent.ok) return await wait(record, sent.error.kind, sent.error.reason);
      log.warn('Event refused', {
        logCode: webhookLogCodes.eventRefused,
        messageId: record.messageId,
        reason,
      });
      return 'done';
    }

    async function wait(record: SQSRecord, cause: string, reason: string): Promise<Outcome> {
      const receiveCount = Number(record.attributes.ApproximateReceiveCount);
      const seconds = backoffSeconds(receiveCount, random());
      log.warn('Event waits', {
        logCode: webhookLogCodes.eventWaits,
        messageId: record.messageId,
        cause,
        reason,
      });
      await events.hide(record.receiptHandle, seconds);
      return 'waits';
    }
  };

export const handler = bind(createHandler, createDependencies);
