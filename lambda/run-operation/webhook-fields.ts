import { isEventId, isEventKind } from '../../domain/event';
import type { OperationError } from '../../domain/operations';
import { readReceiverUrl, urlRefusals } from '../../domain/receiver-url';
import { fail, ok, type Result } from '../../domain/result';
import type { Ports } from './operation';
import type { Field } from './request';

const maxKinds = 100;

export const urlField: Field<string> = (value) => (typeof value === 'string' ? ok(value) : fail('a URL'));

/** Null: all kinds. */
export const kindsField: Field<readonly string[] | null> = (value) => {
  if (value === null) return ok(null);
  const valid =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= maxKinds &&
    value.every((kind) => typeof kind === 'string' && isEventKind(kind));
  return valid
    ? ok([...new Set<string>(value)])
    : fail(`1 to ${maxKinds} kinds of events such as wallet.created, or null for all`);
};

export const eventIdField: Field<string> = (value) =>
  typeof value === 'string' && isEventId(value)
    ? ok(value)
    : fail("an event's id: 1 to 64 letters, digits, hyphens or underscores");

/** The URL as the URL standard writes it, unless delivery would refuse it. */
export function readWebhookUrl(
  text: string,
  { localReceivers = false }: Pick<Ports, 'localReceivers'>,
): Result<string, OperationError> {
  const url = URL.canParse(text) ? new URL(text).href : text;
  const read = readReceiverUrl(url, { allowLocal: localReceivers });
  return read.ok ? ok(url) : fail({ code: read.error, message: urlRefusals[read.error] });
}
