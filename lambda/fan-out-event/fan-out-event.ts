import type { DatabaseUnavailable } from '../database/database';
import { ok, type Result } from '../shared/result';
import { deliveryId, writeDelivery } from '../webhooks/delivery';
import type { WebhookEvent } from '../webhooks/event';
import type { Queue, QueueUnavailable } from '../webhooks/queue';

/** Which webhooks want an event. */
export interface Subscriptions {
  /** The ids of the organization's enabled webhooks that want the event's kind. */
  wanting(event: WebhookEvent): Promise<Result<readonly string[], DatabaseUnavailable>>;
}

export interface FanOutPorts {
  readonly subscriptions: Subscriptions;
  readonly deliveries: Queue;
}

/**
 * Puts one delivery of the event for each webhook that wants it on the delivery queue. Done again, it makes the same
 * deliveries, with the same ids.
 *
 * @param acceptedAt when the event was put on the events queue: milliseconds since 1970
 * @returns the number of deliveries
 */
export async function fanOutEvent(
  event: WebhookEvent,
  acceptedAt: number,
  ports: FanOutPorts,
): Promise<Result<number, DatabaseUnavailable | QueueUnavailable>> {
  const webhookIds = await ports.subscriptions.wanting(event);
  if (!webhookIds.ok) return webhookIds;

  const sent = await ports.deliveries.send(
    webhookIds.value.map((webhookId) => ({
      group: webhookId,
      body: writeDelivery({
        deliveryId: deliveryId(event.id, webhookId),
        webhookId,
        eventId: event.id,
        acceptedAt,
        body: event.text,
      }),
    })),
  );
  return sent.ok ? ok(webhookIds.value.length) : sent;
}
