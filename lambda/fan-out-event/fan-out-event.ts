import { deliveryId, writeDelivery } from '../../domain/delivery';
import type { Redelivery } from '../../domain/event';
import { ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import type { Queue, QueueUnavailable } from '../webhooks/queue';
import type { AcceptedEvent } from './request';

/** Who gets which event. */
export interface Subscriptions {
  /**
   * The ids of the organization's enabled webhooks that want the event's kind. If any wants it, a disabled one included,
   * the event is kept.
   */
  wanting(accepted: AcceptedEvent): Promise<Result<readonly string[], DatabaseUnavailable>>;
  /** A kept event; `undefined` when it is not kept, or when its webhook is not there, disabled, or does not want its kind. */
  kept(redelivery: Redelivery): Promise<Result<KeptEvent | undefined, DatabaseUnavailable>>;
}

export interface KeptEvent {
  /** Its JSON text, byte for byte as it came. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
}

export interface FanOutPorts {
  readonly subscriptions: Subscriptions;
  readonly deliveries: Queue;
}

type Unavailable = DatabaseUnavailable | QueueUnavailable;

/**
 * Puts one delivery of the event for each webhook that wants it on the delivery queue. Done again, it makes the same
 * deliveries, with the same ids.
 *
 * @returns the number of deliveries
 */
export async function fanOutEvent(
  accepted: AcceptedEvent,
  ports: FanOutPorts,
): Promise<Result<number, Unavailable>> {
  const webhookIds = await ports.subscriptions.wanting(accepted);
  if (!webhookIds.ok) return webhookIds;

  const { event, acceptedAt } = accepted;
  const message = (webhookId: string) =>
    deliveryMessage({ eventId: event.id, webhookId }, { text: event.text, acceptedAt });
  const sent = await ports.deliveries.send(webhookIds.value.map(message));
  return sent.ok ? ok(webhookIds.value.length) : sent;
}

/**
 * Puts the delivery of a kept event to one webhook on the delivery queue again, with the id that it had.
 *
 * @returns the number of deliveries: 0 for an event that cannot be delivered to the webhook
 */
export async function redeliverEvent(
  redelivery: Redelivery,
  { subscriptions, deliveries }: FanOutPorts,
): Promise<Result<0 | 1, Unavailable>> {
  const kept = await subscriptions.kept(redelivery);
  if (!kept.ok) return kept;
  if (!kept.value) return ok(0);

  const sent = await deliveries.send([deliveryMessage(redelivery, kept.value)]);
  return sent.ok ? ok(1) : sent;
}

const deliveryMessage = ({ eventId, webhookId }: Redelivery, { text, acceptedAt }: KeptEvent) => ({
  group: webhookId,
  body: writeDelivery({
    deliveryId: deliveryId(eventId, webhookId),
    webhookId,
    eventId,
    acceptedAt,
    body: text,
  }),
});
