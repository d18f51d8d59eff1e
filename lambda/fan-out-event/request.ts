import type { SQSRecord } from 'aws-lambda';
import { parseEvent, parseRedelivery, type Redelivery, type WebhookEvent } from '../../domain/event';
import { ok, type Result } from '../../domain/result';

export interface AcceptedEvent {
  readonly event: WebhookEvent;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
}

/** Reads a message of the events queue. The error is the reason for the dead-letter queue. */
export function readMessage({ body, attributes }: SQSRecord): Result<AcceptedEvent | Redelivery, string> {
  const redelivery = parseRedelivery(body);
  if (redelivery) return redelivery;
  const event = parseEvent(body);
  return event.ok ? ok({ event: event.value, acceptedAt: Number(attributes.SentTimestamp) }) : event;
}
