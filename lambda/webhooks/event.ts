import { isId } from '../shared/ids';
import { fail, ok, type Result } from '../shared/result';

/** Something that happened in an organization, as the service puts it on the events queue. */
export interface WebhookEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: string;
  /**
   * The event as its JSON text, byte for byte as it came: receivers get these bytes. Serialized again, a number
   * beyond 2^53 would change its value.
   */
  readonly text: string;
}

/** Bytes of an event's JSON: what receivers are told to expect. The delivery with its wrapping fits a batch. */
export const maxEventBytes = 64 * 1024;

/** An event's id: it becomes part of a signed text that is delimited by full stops, so it has none. */
export const isEventId = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);

/** An event's kind, such as `wallet.created`: 1 to 128 characters. */
export const isEventKind = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(text);

const fieldNames = ['id', 'organizationId', 'kind', 'date', 'data'] as const;

/**
 * Reads `{"id","organizationId","kind","date","data"}`: all five, and no other. The error is a sentence for the
 * operator who looks into the dead-letter queue; it holds no value of the event.
 */
export function parseEvent(text: string): Result<WebhookEvent, string> {
  const size = Buffer.byteLength(text);
  if (size > maxEventBytes) return fail(`The event has ${size} bytes; at most ${maxEventBytes} are allowed.`);

  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail('The event is not a JSON object.');
  }
  if (!isUnicode(text)) {
    return fail('The event holds an unpaired surrogate, such as \\ud83d without its other half (RFC 7493).');
  }
  const fields = value as Record<string, unknown>;
  const missing = fieldNames.filter((name) => !Object.hasOwn(fields, name));
  if (missing.length > 0) return fail(`The event lacks: ${missing.join(', ')}.`);
  if (Object.keys(fields).length > fieldNames.length) {
    return fail(`The event has fields beside ${fieldNames.join(', ')}.`);
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
    return fail('"date" must be a time such as 2026-11-20T12:00:00.000Z.');
  }
  return ok({ id, organizationId, kind, text });
}

/**
 * Whether every string and name of a JSON text is Unicode: an escape may be half of a surrogate pair, which I-JSON
 * forbids and some parsers refuse. https://www.rfc-editor.org/rfc/rfc7493#section-2.1
 */
function isUnicode(json: string): boolean {
  const strings = json.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  return strings.every((string) => (JSON.parse(string) as string).isWellFormed());
}

function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
