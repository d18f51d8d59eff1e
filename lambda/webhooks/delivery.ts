import { createHash } from 'node:crypto';
import { fail, ok, type Result } from '../shared/result';

/** One event on its way to one webhook: a message of the delivery queue. */
export interface Delivery {
  /** The same for every attempt and every repeat of the fan-out: the receiver's `webhook-id`. */
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  /** When the event was put on the events queue: milliseconds since 1970. */
  readonly acceptedAt: number;
  /** The event's JSON text: the body that is signed and sent. */
  readonly body: string;
  /** When this delivery was first received, in a copy of it, later by the time of our outages: ms since 1970. */
  readonly startedAt?: number;
  /** Not to be attempted before: ms since 1970. */
  readonly notBefore?: number;
  /** `notBefore` is its slot among its webhook's deliveries that have waited. */
  readonly hasSlot?: boolean;
}

/** The id of an event's delivery to a webhook. It has no full stop, which delimits the signed text. */
export function deliveryId(eventId: string, webhookId: string): string {
  const digest = createHash('sha256').update(`${eventId}\n${webhookId}`).digest('hex');
  return `msg_${digest.slice(0, 32)}`;
}

export function writeDelivery(delivery: Delivery): string {
  return JSON.stringify(delivery);
}

/** Reads a message of the delivery queue. The error is a sentence without any of its values. */
export function parseDelivery(text: string): Result<Delivery, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail('The message is not JSON.');
  }
  return isDelivery(value) ? ok(value) : fail('The message is not a delivery.');
}

function isDelivery(value: unknown): value is Delivery {
  if (typeof value !== 'object' || value === null) return false;
  const { deliveryId, webhookId, eventId, acceptedAt, body, startedAt, notBefore, hasSlot } =
    value as Delivery;
  return (
    [deliveryId, webhookId, eventId, body].every((field) => typeof field === 'string' && field !== '') &&
    /^[\w-]{1,128}$/.test(deliveryId) &&
    [acceptedAt, startedAt ?? 0, notBefore ?? 0].every(Number.isSafeInteger) &&
    typeof (hasSlot ?? false) === 'boolean'
  );
}
