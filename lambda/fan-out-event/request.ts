import type { SQSRecord } from 'aws-lambda';
import { ok, type Result } from '../shared/result';
import { parseEvent, type WebhookEvent } from '../webhooks/event';

export interface AcceptedEvent {
  readonly event: WebhookEvent;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
}

/** Reads a message of the events queue. The error is the reason for the dead-letter queue. */
export function readEvent(record: SQSRecord): Result<AcceptedEvent, string> {
  const event = parseEvent(record.body);
  return event.ok ? ok({ event: event.value, acceptedAt: Number(record.attributes.SentTimestamp) }) : event;
}
