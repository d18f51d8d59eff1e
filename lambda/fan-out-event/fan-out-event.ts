import { type Delivery, deliveryId, writeDelivery } from '../../domain/delivery';
import {
  type DisabledWebhook,
  disabledEvent,
  disabledKind,
  isReservedKind,
  type Redelivery,
  type WebhookEvent,
} from '../../domain/event';
import { isId } from '../../domain/ids';
import { probe } from '../../domain/probe';
import { fail, ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import { type InvalidMessage, invalidMessage, type Queue, type QueueUnavailable } from '../shared/queue';

export interface AcceptedEvent {
  readonly event: WebhookEvent;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
  /** The id of the message that brought it, which does not change when that is received again. */
  readonly messageId: string;
}

export interface Subscriber {
  readonly webhookId: string;
  /** Its last attempts were slow or failed, or it is paused: its deliveries take the retry queue. */
  readonly unhealthy: boolean;
}

export interface FoundSubscribers {
  /** Those enabled. */
  readonly subscribers: readonly Subscriber[];
  /** Another message has brought the event, or brings it at the same time. */
  readonly isRepeat: boolean;
}

export interface Subscriptions {
  /** Stores the event, with its message, if any webhook subscribes to it, even a disabled one. The stored one stays. */
  findSubscribers(accepted: AcceptedEvent): Promise<Result<FoundSubscribers, DatabaseUnavailable>>;
  /** `undefined` also if the webhook does not exist, is disabled, newer than the event, or not subscribed to its kind. */
  findStoredEvent(redelivery: Redelivery): Promise<Result<StoredEvent | undefined, DatabaseUnavailable>>;
  /** `undefined` unless the webhook is disabled. */
  findDisabledWebhook(webhookId: string): Promise<Result<DisabledWebhook | undefined, DatabaseUnavailable>>;
}

export type StoredEvent = Pick<Delivery, 'acceptedAt' | 'body'> & Pick<Subscriber, 'unhealthy'>;

export interface FanOutPorts {
  readonly subscriptions: Subscriptions;
  /** `delivery` is for healthy webhooks, `retry` for all others. */
  readonly queues: Readonly<Record<'delivery' | 'retry', Queue>>;
  readonly newToken: () => string;
}

/** A `webhook.disabled` that the database contradicts: the webhook was enabled again meanwhile, or somebody forged the event. */
interface Unconfirmed {
  readonly kind: 'unconfirmed';
}

type Unavailable = DatabaseUnavailable | QueueUnavailable;

/** Seconds. By then the first delivery's attempt is usually over and recorded, so that the receiver does not get both at once. */
const repeatDelaySeconds = 60;

/**
 * Sends one delivery for each subscriber, with the same ids each time. The deliveries of an event that its producer sends again
 * wait; those of a message that is received again, because its function was killed, do not. @returns their number
 */
export async function fanOutEvent(
  accepted: AcceptedEvent,
  ports: FanOutPorts,
): Promise<Result<number, Unavailable | InvalidMessage | Unconfirmed>> {
  const { event, acceptedAt } = accepted;
  if (event.kind === disabledKind) {
    const confirmed = await isConfirmed(event, ports.subscriptions);
    if (!confirmed.ok) return confirmed;
    if (!confirmed.value) return fail({ kind: 'unconfirmed' });
  } else if (isReservedKind(event.kind) && !isProbe(event))
    return invalidMessage('Kinds that begin with "webhook." are reserved.');
  const found = await ports.subscriptions.findSubscribers(accepted);
  if (!found.ok) return found;
  const { subscribers, isRepeat } = found.value;
  const delivery = { eventId: event.id, body: event.text, acceptedAt };
  return sendDeliveries(delivery, subscribers, ports, isRepeat ? repeatDelaySeconds : 0);
}

/** It reaches nobody but the environment. */
const isProbe = ({ kind, organizationId }: WebhookEvent) =>
  kind === probe.kind && organizationId === probe.organizationId;

/** Whoever may send events could forge ours: it must say, byte for byte, what the database says now. */
async function isConfirmed({ text }: WebhookEvent, subscriptions: Subscriptions) {
  const { webhookId } = Object(JSON.parse(text).data);
  if (typeof webhookId !== 'string' || !isId(webhookId, 'wh')) return ok(false);
  const disabling = await subscriptions.findDisabledWebhook(webhookId);
  if (!disabling.ok) return disabling;
  return ok(disabling.value !== undefined && disabledEvent(disabling.value).text === text);
}

/** Sends it to one webhook again, with the same id, as a series of its own. @returns the number of deliveries */
export async function redeliverEvent(
  { eventId, webhookId, series }: Required<Redelivery>,
  ports: FanOutPorts,
): Promise<Result<number, Unavailable>> {
  const stored = await ports.subscriptions.findStoredEvent({ eventId, webhookId });
  if (!stored.ok) return stored;
  if (!stored.value) return ok(0);
  const { unhealthy, ...event } = stored.value;
  return sendDeliveries({ eventId, series, ...event }, [{ webhookId, unhealthy }], ports);
}

async function sendDeliveries(
  event: Pick<Delivery, 'eventId' | 'acceptedAt' | 'body' | 'series'>,
  subscribers: readonly Subscriber[],
  { queues, newToken }: FanOutPorts,
  delaySeconds = 0,
): Promise<Result<number, QueueUnavailable>> {
  const sending = (['delivery', 'retry'] as const).map((queue) => {
    const messages = subscribers
      .filter(({ unhealthy }) => unhealthy === (queue === 'retry'))
      .map(({ webhookId }) => {
        const ids = { deliveryId: deliveryId(event.eventId, webhookId), webhookId };
        const body = writeDelivery({ ...ids, ...event, number: 1, copy: newToken() });
        return { group: webhookId, body, delaySeconds };
      });
    return messages.length === 0 ? ok(null) : queues[queue].send(messages);
  });
  for (const sent of await Promise.all(sending)) if (sent && !sent.ok) return sent;
  return ok(subscribers.length);
}
