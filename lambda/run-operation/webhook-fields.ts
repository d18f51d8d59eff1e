import { fail, ok, type Result } from '../shared/result';
import { isEventId, isEventKind } from '../webhooks/event';
import { maxUrlLength, readReceiverUrl, type UrlRefusal } from '../webhooks/receiver-url';
import type { Ports } from './operation';
import type { Field, OperationError } from './request';

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
  return read.ok ? ok(url) : fail({ code: read.error, message: refusals[read.error] });
}

const refusals: Readonly<Record<UrlRefusal, string>> = {
  url_malformed: 'The URL is not one: it must look like https://hooks.customer.com/wallet.',
  url_too_long: `The URL is longer than ${maxUrlLength} characters.`,
  scheme_not_https: 'The URL must begin with https://.',
  credentials_in_url: 'The URL must not carry credentials: deliveries are signed instead.',
  address_instead_of_name: 'The URL must have a public name, not an address.',
  name_not_public: 'The name in the URL is not a public one.',
  port_not_allowed: 'The port in the URL must be 443, or one from 1024 up.',
};
