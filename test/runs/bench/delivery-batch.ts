import { randomUUID } from 'node:crypto';
import { deliveryId } from '../../../domain/delivery';

/** An event of the size that a wallet's events have. */
export function walletEvent(organizationId: string, id: string): string {
  const data = { walletId: 'wa-aaaaa-aaaaa-aaaaaaaaaaaaaaaa', network: 'Ethereum', note: 'x'.repeat(200) };
  return JSON.stringify({ id, organizationId, kind: 'wallet.created', date: new Date().toISOString(), data });
}

/** Messages as a function gets them from its queue. */
export const queueBatch = (bodies: readonly string[]): unknown => ({
  Records: bodies.map((body) => {
    const now = String(Date.now());
    const id = randomUUID();
    return {
      messageId: id,
      receiptHandle: id,
      body,
      attributes: {
        SentTimestamp: now,
        ApproximateFirstReceiveTimestamp: now,
        ApproximateReceiveCount: '1',
      },
      messageAttributes: {},
      eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:queue',
    };
  }),
});

/** So many deliveries, to the webhooks in turn. */
export const deliveryBatch = (
  webhookIds: readonly string[],
  organizationId: string,
  count: number,
): unknown =>
  queueBatch(
    Array.from({ length: count }, (_, index) => {
      const eventId = randomUUID();
      const webhookId = webhookIds[index % webhookIds.length] ?? '';
      return JSON.stringify({
        deliveryId: deliveryId(eventId, webhookId),
        webhookId,
        eventId,
        acceptedAt: Date.now(),
        body: walletEvent(organizationId, eventId),
      });
    }),
  );
