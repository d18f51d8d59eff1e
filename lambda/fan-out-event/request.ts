import type { SQSRecord } from 'aws-lambda';
import { isId } from '../shared/ids';
import { fail, ok, type Result } from '../shared/result';
import { isEventId, parseEvent, type WebhookEvent } from '../webhooks/event';

export interface AcceptedEvent {
  readonly event: WebhookEvent;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
}

/** An operator's request to deliver a kept event again, to one webhook. */
export interface Redelivery {
  readonly eventId: string;
  readonly webhookId: string;
}

/** Reads a message of the events queue. The error is the reason for the dead-letter queue. */
export function readMessage({ body, attributes }: SQSRecord): Result<AcceptedEvent | Redelivery, string> {
  if (body.startsWith('{"redeliver":')) return readRedelivery(body);
  const event = parseEvent(body);
  return event.ok ? ok({ event: event.value, acceptedAt: Number(attributes.SentTimestamp) }) : event;
}

/** `{"redeliver":{"eventId":"…","webhookId":"wh-…"}}`, as the command line writes it. */
function readRedelivery(text: string): Result<Redelivery, string> {
  try {
    const { eventId, webhookId } = JSON.parse(text).redeliver;
    if (isEventId(eventId) && isId(webhookId, 'wh')) return ok({ eventId, webhookId });
  } catch {}
  return fail('"redeliver" must be {"eventId","webhookId"}.');
}
