import { createHash, randomUUID } from 'node:crypto';
import { isId } from './ids';
import { fail, ok, type Result } from './result';
import { parseObject, whyRefused } from './strict-json';
import { beginsWithDay } from './time';

export interface WebhookEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: string;
  /** The JSON text, byte for byte as received: serializing it again would change numbers beyond 2^53. */
  readonly text: string;
}

/** Bytes of an event's JSON, as documented for receivers. The delivery with its envelope fits an SQS batch. */
export const maxEventBytes = 64 * 1024;

/** An event's id: contains no full stop, the delimiter of the signed text. */
export const isEventId = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);

export const newEventId = (): string => `evt_${randomUUID().replaceAll('-', '')}`;

/** An event's kind, such as `wallet.created`: 1 to 128 characters. */
export const isEventKind = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(text);

/** Kinds that only the service sends; events of producers are refused. `webhook.test` goes past the events queue. */
export const isReservedKind = (kind: string): boolean => kind.startsWith('webhook.');

const fieldNames = ['id', 'organizationId', 'kind', 'date', 'data'] as const;

/** Parses `{"id","organizationId","kind","date","data"}`, with no other field. The error contains no value of the event, but the path to one. */
export function parseEvent(text: string): Result<WebhookEvent, string> {
  const size = Buffer.byteLength(text);
  if (size > maxEventBytes) return fail(`The event has ${size} bytes; at most ${maxEventBytes} are allowed.`);

  const fields = parseObject(text);
  if (!fields) return fail('The event is not a JSON object.');
  const refusal = whyRefused(text);
  if (refusal) return fail(`The event contains ${refusal}`);
  const missing = fieldNames.filter((name) => !Object.hasOwn(fields, name));
  if (missing.length > 0) return fail(`The event lacks: ${missing.join(', ')}.`);
  if (Object.keys(fields).length > fieldNames.length) {
    return fail(`The event has fields other than ${fieldNames.join(', ')}.`);
  }

  const { id, organizationId, kind, date } = fields;
  if (typeof id !== 'string' || !isEventId(id)) {
    return fail('"id" must be 1 to 64 letters, digits, hyphens or underscores, the first a letter or digit.');
  }
  if (typeof organizationId !== 'string' || !isId(organizationId, 'or')) {
    return fail('"organizationId" must be an id such as or-xxxxx-xxxxx-xxxxxxxxxxxxxxxx.');
  }
  if (typeof kind !== 'string' || !isEventKind(kind)) {
    return fail('"kind" must be 1 to 128 letters, digits or any of . _ : / -, the first a letter or digit.');
  }
  if (typeof date !== 'string' || !isTime(date)) {
    return fail(
      '"date" must be a time such as 2026-11-20T12:00:00.000Z: in the years 1 to 9999 UTC, with Z or an offset of at most 14 hours.',
    );
  }
  return ok({ id, organizationId, kind, text });
}

/**
 * RFC 3339 without leap seconds, in the years 1 to 9999 in UTC too, which Python's `datetime` and .NET's are limited to. No zone
 * is beyond 14 hours, and Java refuses offsets beyond 18. `Date.parse` also accepts 24:00.
 */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)$/.test(text))
    return false;
  const time = Date.parse(text);
  return time >= firstTime && time <= lastTime && beginsWithDay(text) && !text.startsWith('0000');
}

const firstTime = Date.parse('0001-01-01T00:00:00.000Z');
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

export interface NewEvent extends Pick<WebhookEvent, 'id' | 'organizationId' | 'kind'> {
  /** JSON, copied unchanged, as `text` is. */
  readonly data: string;
}

export function writeEvent({ id, organizationId, kind, data }: NewEvent, date = new Date()): string {
  const head = JSON.stringify({ id, organizationId, kind, date: date.toISOString() });
  return `${head.slice(0, -1)},"data":${data}}`;
}

export const disabledKind = 'webhook.disabled';

export interface DisabledWebhook {
  readonly webhookId: string;
  readonly organizationId: string;
  /** `gone`: its receiver answered 410. `operator`: an operator's command. */
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly disabledAt: number;
}

/** Tells the organization's other webhooks, with the same id if sent again; no URL, which may carry a token. */
export function disabledEvent({ webhookId, organizationId, reason, disabledAt }: DisabledWebhook) {
  const digest = createHash('sha256').update(`webhook.disabled\n${webhookId}\n${disabledAt}`).digest('hex');
  const id = `evt_${digest.slice(0, 32)}`;
  const data = JSON.stringify({ webhookId, reason });
  const text = writeEvent({ id, organizationId, kind: disabledKind, data }, new Date(disabledAt));
  return { id, text };
}

/** A message of the events queue that redelivers a stored event to one webhook. */
export interface Redelivery {
  readonly eventId: string;
  readonly webhookId: string;
  /** The redelivery's id: two messages with the same one are one redelivery. @default - sent by the release before, which had none */
  readonly series?: string;
}

/** Parses a redelivery; undefined for any other message. The error is the reason for the dead-letter queue. */
export function parseRedelivery(text: string): Result<Redelivery, string> | undefined {
  const { redeliver } = parseObject(text) ?? {};
  if (redeliver === undefined) return undefined;
  const { eventId, webhookId, series } = Object(redeliver) as Record<keyof Redelivery, unknown>;
  return typeof eventId === 'string' &&
    isEventId(eventId) &&
    typeof webhookId === 'string' &&
    isId(webhookId, 'wh') &&
    (series === undefined || (typeof series === 'string' && isEventId(series)))
    ? ok({ eventId, webhookId, ...(series !== undefined && { series }) })
    : fail('"redeliver" must be {"eventId","webhookId","series"}.');
}

export const writeRedelivery = ({ eventId, webhookId, series = randomUUID() }: Redelivery): string =>
  JSON.stringify({ redeliver: { eventId, webhookId, series } });
