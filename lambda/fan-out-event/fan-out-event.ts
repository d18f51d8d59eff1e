import { deliveryId, writeDelivery } from '../../domain/delivery';
import type { Redelivery, WebhookEvent } from '../../domain/event';
import { ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import type { Queue, QueueUnavailable } from '../webhooks/queue';

export interface AcceptedEvent {
  readonly event: WebhookEvent;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
}

export interface Subscriber {
  readonly webhookId: string;
  /** Its last attempts were slow or failed: its deliveries go by the second lane. */
  readonly troubled: boolean;
}

/** Who gets which event. */
export interface Subscriptions {
  /**
   * The organization's enabled webhooks that want the event's kind. If any wants it, a disabled one included, the event is
   * kept.
   */
  wanting(accepted: AcceptedEvent): Promise<Result<readonly Subscriber[], DatabaseUnavailable>>;
  /**
   * A kept event; `undefined` when it is not kept, or when its webhook is not there, disabled, younger than the event, or
   * does not want its kind.
   */
  kept(redelivery: Redelivery): Promise<Result<KeptEvent | undefined, DatabaseUnavailable>>;
}

export interface KeptEvent {
  /** Its JSON text, byte for byte as it came. */
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
  readonly troubled: boolean;
}

export interface FanOutPorts {
  readonly subscriptions: Subscriptions;
  /** The queues of deliveries: to webhooks in good standing, and to the others. */
  readonly lanes: Readonly<Record<'first' | 'second', Queue>>;
}

type Unavailable = DatabaseUnavailable | QueueUnavailable;

/**
 * Puts one delivery of the event for each webhook that wants it on the queue of its lane. Done again, it makes the same
 * deliveries, with the same ids.
 *
 * @returns the number of deliveries
 */
export async function fanOutEvent(
  accepted: AcceptedEvent,
  ports: FanOutPorts,
): Promise<Result<number, Unavailable>> {
  const subscribers = await ports.subscriptions.wanting(accepted);
  if (!subscribers.ok) return subscribers;

  const { event, acceptedAt } = accepted;
  for (const [lane, troubled] of [
    ['first', false],
    ['second', true],
  ] as const) {
    const messages = subscribers.value
      .filter((subscriber) => subscriber.troubled === troubled)
      .map(({ webhookId }) => deliveryMessage({ eventId: event.id, webhookId }, event.text, acceptedAt));
    const sent = messages.length === 0 ? ok(null) : await ports.lanes[lane].send(messages);
    if (!sent.ok) return sent;
  }
  return ok(subscribers.value.length);
}

/**
 * Puts the delivery of a kept event to one webhook on a queue again, with the id that it had.
 *
 * @returns the number of deliveries: 0 for an event that cannot be delivered to the webhook
 */
export async function redeliverEvent(
  redelivery: Redelivery,
  { subscriptions, lanes }: FanOutPorts,
): Promise<Result<0 | 1, Unavailable>> {
  const kept = await subscriptions.kept(redelivery);
  if (!kept.ok) return kept;
  if (!kept.value) return ok(0);

  const { text, acceptedAt, troubled } = kept.value;
  const sent = await lanes[troubled ? 'second' : 'first'].send([
    deliveryMessage(redelivery, text, acceptedAt),
  ]);
  return sent.ok ? ok(1) : sent;
}

const deliveryMessage = ({ eventId, webhookId }: Redelivery, body: string, acceptedAt: number) => ({
  group: webhookId,
  body: writeDelivery({ deliveryId: deliveryId(eventId, webhookId), webhookId, eventId, acceptedAt, body }),
});
