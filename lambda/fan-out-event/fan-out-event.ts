import { type Delivery, deliveryId, writeDelivery } from '../../domain/delivery';
import {
  type Disabling,
  disabledEvent,
  isReservedKind,
  type Redelivery,
  type WebhookEvent,
} from '../../domain/event';
import { isId } from '../../domain/ids';
import { probe } from '../../domain/probe';
import { ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import { type InvalidMessage, invalidMessage, type Queue, type QueueUnavailable } from '../shared/queue';

export interface AcceptedEvent {
  readonly event: WebhookEvent;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
}

/** A webhook that gets an event. */
export interface Subscriber {
  readonly webhookId: string;
  /** Its last attempts were slow or failed: its deliveries take the second lane. */
  readonly unhealthy: boolean;
}

export interface Subscriptions {
  /**
   * Finds the organization's enabled webhooks that subscribe to the event's kind. Stores the event if any webhook
   * subscribes to it, even a disabled one.
   */
  findSubscribers(accepted: AcceptedEvent): Promise<Result<readonly Subscriber[], DatabaseUnavailable>>;
  /**
   * Finds a stored event; `undefined` if it is not stored, or if the webhook does not exist, is disabled, is newer
   * than the event, or does not subscribe to its kind.
   */
  findStoredEvent(redelivery: Redelivery): Promise<Result<StoredEvent | undefined, DatabaseUnavailable>>;
  /** `undefined` unless the webhook is disabled. */
  findDisabling(webhookId: string): Promise<Result<Disabling | undefined, DatabaseUnavailable>>;
}

/** Also whether the webhook is unhealthy. */
export type StoredEvent = Pick<Delivery, 'acceptedAt' | 'body'> & Pick<Subscriber, 'unhealthy'>;

export interface FanOutPorts {
  readonly subscriptions: Subscriptions;
  /** Delivery queues: `first` for healthy webhooks, `second` for the others. */
  readonly lanes: Readonly<Record<'first' | 'second', Queue>>;
}

type Unavailable = DatabaseUnavailable | QueueUnavailable;

/**
 * Sends one delivery of the event for each subscriber. A repeat sends the same deliveries, with the same ids.
 *
 * @returns the number of deliveries; `invalid_message` for an event of a reserved kind that the service did not send
 */
export async function fanOutEvent(
  accepted: AcceptedEvent,
  { subscriptions, lanes }: FanOutPorts,
): Promise<Result<number, Unavailable | InvalidMessage>> {
  const { event, acceptedAt } = accepted;
  const own = isReservedKind(event.kind) ? await isOurs(event, subscriptions) : ok(true);
  if (!own.ok) return own;
  if (!own.value) return invalidMessage('Kinds that begin with "webhook." are reserved.');
  const subscribers = await subscriptions.findSubscribers(accepted);
  return subscribers.ok
    ? sendDeliveries({ eventId: event.id, body: event.text, acceptedAt }, subscribers.value, lanes)
    : subscribers;
}

/**
 * Whoever may send events could forge ours: `webhook.disabled` must say, byte for byte, what the database says now, and
 * `webhook.probe` reaches the environment alone.
 */
async function isOurs({ kind, organizationId, text }: WebhookEvent, subscriptions: Subscriptions) {
  if (kind === probe.kind) return ok(organizationId === probe.organizationId);
  const { webhookId } = Object(JSON.parse(text).data);
  if (typeof webhookId !== 'string' || !isId(webhookId, 'wh')) return ok(false);
  const disabling = await subscriptions.findDisabling(webhookId);
  if (!disabling.ok) return disabling;
  return ok(disabling.value !== undefined && disabledEvent(disabling.value).text === text);
}

/**
 * Sends the delivery of a stored event to one webhook again, with the same id.
 *
 * @returns the number of deliveries: 0 if the event cannot be delivered to the webhook
 */
export async function redeliverEvent(
  { eventId, webhookId }: Redelivery,
  { subscriptions, lanes }: FanOutPorts,
): Promise<Result<number, Unavailable>> {
  const stored = await subscriptions.findStoredEvent({ eventId, webhookId });
  if (!stored.ok) return stored;
  if (!stored.value) return ok(0);
  const { unhealthy, ...event } = stored.value;
  return sendDeliveries({ eventId, ...event }, [{ webhookId, unhealthy }], lanes);
}

async function sendDeliveries(
  event: Pick<Delivery, 'eventId' | 'acceptedAt' | 'body'>,
  subscribers: readonly Subscriber[],
  lanes: FanOutPorts['lanes'],
): Promise<Result<number, QueueUnavailable>> {
  for (const lane of ['first', 'second'] as const) {
    const messages = subscribers
      .filter(({ unhealthy }) => unhealthy === (lane === 'second'))
      .map(({ webhookId }) => {
        const delivery = { deliveryId: deliveryId(event.eventId, webhookId), webhookId, ...event };
        return { group: webhookId, body: writeDelivery(delivery) };
      });
    const sent = messages.length === 0 ? ok(null) : await lanes[lane].send(messages);
    if (!sent.ok) return sent;
  }
  return ok(subscribers.length);
}
