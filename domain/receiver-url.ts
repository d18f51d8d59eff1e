import { isIP } from 'node:net';
import { fail, ok, type Result } from './result';

/** A receiver's URL, before its name is resolved. */
export interface ReceiverUrl {
  /** Whether it is `https`; otherwise it is a receiver on this machine, which needs no DNS lookup: see `allowLocal`. */
  readonly secure: boolean;
  /** Lower case, in ASCII (IDNA) form. */
  readonly hostname: string;
  readonly port: number;
  readonly path: string;
}

/** Characters. */
const maxUrlLength = 2_048;

export const urlRefusals = {
  url_malformed: 'The URL is malformed: it must look like https://hooks.customer.com/wallet.',
  url_too_long: `The URL is longer than ${maxUrlLength} characters.`,
  scheme_not_https: 'The URL must begin with https://.',
  credentials_in_url: 'The URL must not carry credentials: deliveries are signed instead.',
  address_instead_of_name:
    'The URL must have a public name, not an address; in a local environment also http://localhost or http://127.0.0.1.',
  name_invalid:
    'The name in the URL is invalid: it must not end with a dot, and each part must have 1 to 63 letters, digits, underscores or hyphens, with no hyphen at either end.',
  name_not_public: 'The name in the URL is not public.',
  port_not_allowed: 'The port in the URL must be 443, or one from 1024 up.',
} as const;

export type UrlRefusal = keyof typeof urlRefusals;

/** Those of a URL that is added. One that was stored before goes on being requested as it is. */
export const newUrlRefusals = {
  ...urlRefusals,
  slashes_missing:
    'The URL must have exactly two slashes before its name: https://hooks.customer.com/wallet.',
  fragment_in_url:
    'The URL must not have a fragment, "#" and what follows: it is not sent. Write %23 for a "#".',
  character_not_allowed:
    'The URL must not contain a backslash, tab, line break or other control character: percent-encode it, or leave it out.',
  dot_segment_in_url:
    'The path of the URL must not contain the segments "." and "..", percent-encoded or not: write the path without them.',
  percent_sign_in_url:
    'A percent sign in the URL must be followed by two hexadecimal digits: write %25 for a percent sign.',
} as const;

export type NewUrlRefusal = keyof typeof newUrlRefusals;

/** Never on the internet: RFC 6761, 6762, 7686, 9476, ICANN's `internal`, `arpa` with `home.arpa` (RFC 8375). */
const specialNames = ['localhost', 'local', 'internal', 'test', 'invalid', 'example', 'onion', 'alt', 'arpa'];

/**
 * Parses a webhook's URL as it is requested: `https`, a public name (not an IP address in any notation), no credentials, and port 443 or
 * 1024 and above: receivers allow-list our origin address, so it must not be usable to probe SSH or SMTP.
 * The name's addresses are checked when connecting.
 *
 * @param options.allowLocal also permits `http` to `127.0.0.1` and `localhost`, on any port. Only the local environment sets it.
 */
export function readReceiverUrl(
  text: string,
  options: { readonly allowLocal: boolean },
): Result<ReceiverUrl, UrlRefusal> {
  if (text.length > maxUrlLength) return fail('url_too_long');
  if (!URL.canParse(text)) return fail('url_malformed');
  // The parser of the URL standard turns decimal, octal, hexadecimal, shortened and full-width forms of an address into
  // its usual one: https://url.spec.whatwg.org/#concept-ipv4-parser
  const url = new URL(text);
  const { protocol, hostname, username, password } = url;
  const secure = protocol === 'https:';
  const local = options.allowLocal && protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(hostname);
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);

  const isIPv6 = hostname.startsWith('[');
  // "Must begin with https" would not help: with that it is refused too.
  if (!secure && !local) return fail(isIPv6 ? 'address_instead_of_name' : 'scheme_not_https');
  if (username !== '' || password !== '') return fail('credentials_in_url');
  if (!local && (isIPv6 || isIP(hostname) !== 0)) return fail('address_instead_of_name');
  if (!local && !isPublic(hostname)) return fail('name_not_public');
  if (!local && !isValidName(hostname)) return fail('name_invalid');
  if (!local && port !== 443 && port < 1024) return fail('port_not_allowed');
  return ok({ secure, hostname, port, path: `${url.pathname}${url.search}` });
}

/**
 * A new webhook's URL, as it will be requested: the name in ASCII, and percent-encoded what RFC 3986 does not have. The parser of the
 * URL standard repairs more than that without a word, so that another path is requested than the one that was given: we refuse it.
 *
 * @param options as of `readReceiverUrl`, which decides about the rest
 */
export function normalizeReceiverUrl(
  text: string,
  options: { readonly allowLocal: boolean },
): Result<string, NewUrlRefusal> {
  const given = text.trim();
  const read = readReceiverUrl(given, options);
  if (!read.ok) return read;
  const [, authority, path = ''] = /^[^:]*:\/\/([^/\\?#]+)([^?#]*)/.exec(given) ?? [];
  if (authority?.includes('@')) return fail('credentials_in_url');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the parser drops some of them, and receivers refuse others
  if (/[\\\u0000-\u001f\u007f]/.test(given) || !given.isWellFormed()) return fail('character_not_allowed');
  if (authority === undefined) return fail('slashes_missing');
  if (given.includes('#')) return fail('fragment_in_url');
  if (/%(?![0-9a-f]{2})/i.test(given)) return fail('percent_sign_in_url');
  if (path.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return fail('dot_segment_in_url');
  // The parser leaves them, and Tomcat refuses them: https://www.rfc-editor.org/rfc/rfc3986#appendix-A
  const { origin, pathname, search } = new URL(given);
  const url = `${origin}${pathname}${search}`.replace(/[[\]{}|^`]/g, encodeURIComponent);
  return url.length > maxUrlLength ? fail('url_too_long') : ok(url);
}

/** Whether the name has at least two labels and the last one is not special. */
function isPublic(hostname: string): boolean {
  const labels = hostname.replace(/\.$/, '').split('.');
  return labels.length >= 2 && !specialNames.includes(labels.at(-1) as string);
}

/** Labels of letters, digits, hyphens and underscores; no final dot, which certificates do not support. */
const isValidName = (hostname: string): boolean =>
  hostname.length <= 253 &&
  hostname.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));

/** `allowed` sets `allowLocal`. No template contains it. */
export const localReceiversVariable = 'WEBHOOK_LOCAL_RECEIVERS';
