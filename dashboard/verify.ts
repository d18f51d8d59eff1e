/** A pasted delivery. */
export interface PastedDelivery {
  readonly headers: string;
  /** The raw body, before any parsing. */
  readonly body: string;
  readonly secret: string;
}

export interface Verification {
  /** `stale`: valid, but its timestamp is more than five minutes off. `incomplete`: input is missing or malformed. */
  readonly verdict: 'valid' | 'stale' | 'invalid' | 'incomplete';
  readonly title: string;
  /** Sentences, most important first. */
  readonly details: readonly string[];
  /** Of an incomplete input, by field. */
  readonly problems?: readonly (readonly [field: string, problem: string])[];
  /** Of a complete input: the id, timestamp and body that are signed, their signature, and those that arrived. */
  readonly compared?: { signed: readonly string[]; expected: string; received: readonly string[] };
}

/** The base64 of 32 bytes: of a secret, and of an HMAC-SHA-256. */
const base64 = '[A-Za-z0-9+/]{43}=?$';

/** @param secret `whsec_` and the base64 of 32 bytes */
export async function sign(signed: readonly string[], secret: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (each) => each.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const hmac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(signed.join('.')));
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(hmac)))}`;
}

/**
 * Verifies a delivery as its receiver must, and explains an invalid signature.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 *
 * @param signatureHeaders the names of the headers, each with the same signatures; one of them is enough
 * @param now milliseconds since 1970
 */
export async function verify(
  { headers: pastedHeaders, body, secret: pastedSecret }: PastedDelivery,
  signatureHeaders: readonly string[],
  now: number,
): Promise<Verification> {
  const headers = readHeaders(pastedHeaders);
  const valuesOf = (name: string) => [...(headers.get(name.toLowerCase()) ?? [])].filter(Boolean);
  const [ids, timestamps] = [valuesOf('webhook-id'), valuesOf('webhook-timestamp')];
  const [[id = ''], [timestamp = '']] = [ids, timestamps];
  const found = signatureHeaders.filter((name) => valuesOf(name).length > 0);
  const values = new Set(found.flatMap(valuesOf));
  const signatures = [...values].join(' ').split(/\s+/).filter(Boolean);
  const received = signatures.filter((each) => new RegExp(`^v1,${base64}`).test(each));
  const ignored = signatures
    .filter((each) => !received.includes(each))
    .map((each) => `“${each}” is ignored: it is not “v1,” followed by 44 characters of base64.`);
  const secret = pastedSecret.trim();

  const rules: Readonly<Record<keyof PastedDelivery, Readonly<Record<string, boolean>>>> = {
    headers: {
      'The header webhook-id is missing.': id === '',
      'The header webhook-timestamp is missing.': timestamp === '',
      'The header webhook-id appears twice, with different values.': ids.length > 1,
      'The header webhook-timestamp appears twice, with different values.': timestamps.length > 1,
      [`webhook-timestamp is “${timestamp}”, not whole seconds since 1970.`]: !/^\d{0,11}$/.test(timestamp),
      [`No signature header found. Expected: ${signatureHeaders.join(', ')}.`]: found.length === 0,
      [`${found.join(', ')} differ, but are sent with the same value: something changed them.`]:
        values.size > 1,
      [ignored.join(' ')]: found.length > 0 && received.length === 0,
    },
    body: { 'The body is missing.': body === '' },
    secret: {
      'The secret is missing.': secret === '',
      'The secret is not “whsec_” followed by 44 characters of base64: part of it was lost or changed.':
        secret !== '' && !new RegExp(`^whsec_${base64}`).test(secret),
    },
  };
  const problems = Object.entries(rules).flatMap(([field, sentences]) =>
    Object.entries(sentences).flatMap(([sentence, applies]) => (applies ? [[field, sentence] as const] : [])),
  );
  if (problems.length > 0)
    return { verdict: 'incomplete', title: 'Cannot verify: the input is incomplete', details: [], problems };

  const signed = [id, timestamp, body];
  const expected = await sign(signed, secret);
  const compared = { signed, expected, received };
  const isReceived = (signature: string) => received.some((each) => each.padEnd(47, '=') === signature);
  if (isReceived(expected)) {
    const age = Math.floor(now / 1000) - Number(timestamp);
    return { ...checkAge(age, [`Found in ${found.join(', ')}.`, ...ignored]), compared };
  }
  const title = 'The signature is invalid';
  for (const [how, changed] of changedBodies(body)) {
    if (!isReceived(await sign([id, timestamp, changed], secret))) continue;
    const remedy = 'Verify the raw bytes, before anything parses or reformats them.';
    const cause = `It is valid for the body ${how}, so the secret, id and timestamp are right. ${remedy}`;
    return {
      verdict: 'invalid',
      title: `${title}: the body was changed`,
      details: [cause, ...ignored],
      compared,
    };
  }
  const questions = [
    'The body, id or timestamp was changed, or the secret is wrong. A signature cannot show which.',
    ...(unescaped(body) === undefined ? [] : ['The body is escaped (\\"): paste it as it arrived.']),
    'Is this exactly the body that arrived with these headers, byte for byte?',
    'Is this the secret of this webhook in this environment? An old secret stops working 24 hours after its rotation.',
  ];
  return { verdict: 'invalid', title, details: [...questions, ...ignored], compared };
}

/** @param age seconds */
function checkAge(age: number, details: readonly string[]): Verification {
  const off = Math.abs(age);
  if (off <= 300) return { verdict: 'valid', title: 'The signature is valid', details };
  const [unit, size] = off < 3_600 ? ['minute', 60] : off < 86_400 ? ['hour', 3_600] : ['day', 86_400];
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  const span = `${format.format(Math.floor(off / size))} ${age > 0 ? 'old' : 'ahead of this device’s clock'}`;
  const title = `The signature is valid, but the delivery is ${span}`;
  const reason =
    'Receivers reject a timestamp that is more than 5 minutes off: it may be a replay. For a delivery that you pasted later, this is expected; otherwise check the clocks.';
  return { verdict: 'stale', title, details: [reason, ...details] };
}

/** Reverts common changes to a copied body, one at a time. */
function changedBodies(body: string): (readonly [how: string, body: string])[] {
  const compact = parseObject(body);
  const changed: [string, string][] = [
    ['without the trailing line break', body.replace(/\r?\n$/, '')],
    ['without the surrounding white space', body.trim()],
    ['with a trailing line break', `${body}\n`],
    ['with Windows line breaks', body.replaceAll('\n', '\r\n')],
    ['without the escapes (it is a JSON string of the body)', unescaped(body) ?? body],
    ['as compact JSON (something reformatted it)', compact ? JSON.stringify(compact) : body],
  ];
  return changed.filter(([, each]) => each !== body);
}

/** The text whose JSON string this is, with or without quotes around it. */
const unescaped = (body: string): string | undefined =>
  /^\s*"?\s*\{\s*\\"/.test(body) ? parse<string>(`"${body.trim().replace(/^"|"$/g, '')}"`) : undefined;

/** Divides what holds both headers and body: an object in JSON, or a request with an empty line between them. */
export function splitDelivery(text: string): readonly [headers: string, body: string] | undefined {
  const { headers, body } = (parseObject(text) ?? {}) as { headers?: object; body?: unknown };
  if (headers && typeof body === 'string') return [JSON.stringify(headers, null, 2), body];
  const [, head, rest] = /^([^{]*?:[^{]*?)\r?\n\r?\n(\S[\s\S]*)$/.exec(text) ?? [];
  return head && rest ? [head, rest] : undefined;
}

/**
 * Reads headers as tools print them: `Name: value` lines, also with the `>` of `curl -v`, and objects in JSON or in
 * Node.js's format. Names in lower case, each with its distinct values.
 */
function readHeaders(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const headers = new Map<string, Set<string>>();
  const add = (name: string, value: string) =>
    headers.set(name.toLowerCase(), new Set([...(headers.get(name.toLowerCase()) ?? []), value]));
  for (const [name, value] of Object.entries(parseObject(text) ?? {}))
    for (const each of [value].flat()) add(name, String(each).trim());
  if (headers.size > 0) return headers;
  // In Node's notation of an object, a comma precedes the next name, and others within `v1,…`.
  const lines = text.trim().startsWith('{')
    ? text.replace(/^\s*\{|\}[\s;]*$/g, '').split(/,\s*(?=["'`]?[\w-]+["'`]?\s*:)/)
    : text.split(/\r?\n/);
  for (const line of lines) {
    const [, name, value = ''] = /^\s*[<>*]?\s*["'`]?([\w-]+)["'`]?\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name) add(name, /^(["'`])(.*)\1,?$/.exec(value)?.[2] ?? value);
  }
  return headers;
}

function parse<Value>(text: string): Value | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseObject(text: string): object | undefined {
  const value = parse<unknown>(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}
