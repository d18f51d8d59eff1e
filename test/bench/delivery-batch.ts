import { randomUUID } from 'node:crypto';
import { deliveryId } from '../../lambda/webhooks/delivery';

/** An event of the size that a wallet's events have. */
export function walletEvent(organizationId: string, id: string): string {
  const data = { walletId: 'wa-aaaaa-aaaaa-aaaaaaaaaaaaaaaa', network: 'Ethereum', note: 'x'.repeat(200) };
  return JSON.stringify({ id, organizationId, kind: 'wallet.created', date: new Date().toISOString(), data });
}

/** Deliveries to one webhook as the delivery function gets them from its queue: a batch of so many. */
export function deliveryBatch(webhookId: string, organizationId: string, count: number): unknown {
  return {
    Records: Array.from({ length: count }, () => {
      const eventId = randomUUID();
      const now = Date.now();
      return {
        messageId: eventId,
        receiptHandle: eventId,
        body: JSON.stringify({
          deliveryId: deliveryId(eventId, webhookId),
          webhookId,
          eventId,
          acceptedAt: now,
          body: walletEvent(organizationId, eventId),
        }),
        attributes: { ApproximateFirstReceiveTimestamp: String(now), ApproximateReceiveCount: '1' },
      };
    }),
  };
}
