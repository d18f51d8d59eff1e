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
  /** What an incomplete input lacks, by field. */
  readonly problems?: readonly (readonly [field: string, problem: string])[];
  /** A complete input's parts: the signed id, timestamp and body, their signature, and the signatures that arrived. */
  readonly compared?: { signed: readonly string[]; expected: string; received: readonly string[] };
}

/** The headers that are signed. */
const names = ['webhook-id', 'webhook-timestamp'];

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
  const read = new Map(
    [...names, ...signatureHeaders].map((name) => [name, readHeader(pastedHeaders, name)]),
  );
  const valuesOf = (name: string) => [...(read.get(name) ?? [])].filter(Boolean);
  const [ids = [], timestamps = []] = names.map(valuesOf);
  const [[id = ''], [timestamp = '']] = [ids, timestamps];
  const found = signatureHeaders.filter((name) => valuesOf(name).length > 0);
  const missing = names.filter((name) => valuesOf(name).length === 0);
  const unread = [...missing, ...(found.length === 0 ? signatureHeaders : [])].filter(
    (name) => read.get(name)?.size === 0,
  );
  const values = new Set(found.flatMap(valuesOf));
  const signatures = [...values].join(' ').split(/\s+/).filter(Boolean);
  const received = signatures.filter((each) => new RegExp(`^v1,${base64}`).test(each));
  const ignored = signatures
    .filter((each) => !received.includes(each))
    .map((each) => `“${each}” is ignored: it is not “v1,” followed by 44 characters of base64.`);
  const secret = pastedSecret.trim();

  const rules: Readonly<Record<keyof PastedDelivery, Readonly<Record<string, boolean>>>> = {
    headers: {
      ...Object.fromEntries(
        missing.map((name) => [`The header ${name} is missing.`, !unread.includes(name)]),
      ),
      [`${unread.join(', ')} is there, but not in a form that this page reads: write “name: value” on a line for each.`]:
        unread.length > 0,
      'The header webhook-id appears twice, with different values.': ids.length > 1,
      'The header webhook-timestamp appears twice, with different values.': timestamps.length > 1,
      [`webhook-timestamp is “${timestamp}”, not whole seconds since 1970.`]: !/^\d{0,11}$/.test(timestamp),
      [`No signature header found. Expected: ${signatureHeaders.join(', ')}.`]:
        found.length === 0 && !signatureHeaders.some((name) => unread.includes(name)),
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

/** Divides what holds both headers and body: an object in JSON, a curl command, or a request with an empty line between them. */
export function splitDelivery(text: string): readonly [headers: string, body: string] | undefined {
  const delivery = (parseObject(text) ?? {}) as {
    headers?: object;
    body?: unknown;
    isBase64Encoded?: unknown;
  };
  const { headers, body, isBase64Encoded } = delivery;
  if (headers && typeof body === 'string')
    return [JSON.stringify(headers, null, 2), isBase64Encoded === true ? decode(body) : body];
  const [, command, data] =
    /^(\s*curl\b[\s\S]*?)\s(?:-d|--data(?:-raw|-binary)?)[ =]+'([\s\S]*?)'(?!\\'')/.exec(text) ?? [];
  if (command && data) return [command, data.replaceAll("'\\''", "'")];
  const [, head, rest] = /^([^{]*?:[^{]*?)\r?\n\r?\n(\S[\s\S]*)$/.exec(text) ?? [];
  return head && rest ? [head, rest] : undefined;
}

const decode = (base64: string) =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (each) => each.charCodeAt(0)));

/**
 * Reads a header wherever tools show its name and then its value: lines, curl, JSON, Node.js, Go, Python, PHP, Ruby, Java, CGI's
 * variables, tables, and a browser's two lines. Undefined if its name is not there; no values if they are not in such a form.
 */
function readHeader(text: string, name: string): ReadonlySet<string> | undefined {
  const plain = text.replace(/\\(["'])/g, '$1');
  const keys = new RegExp(`(?<![\\w-])(?:HTTP_)?${name.replaceAll('-', '[-_]')}(?![\\w-])`, 'gi');
  const found = [...plain.matchAll(keys)].map(({ 0: key, index }) => {
    const before = plain.slice(0, index);
    const isFirst = /(^|[\r\n])[^\w\r\n]*$/.test(before);
    return readValues(plain.slice(index + key.length), before.at(-1) ?? '', isFirst);
  });
  return found.length > 0 ? new Set(found.flat()) : undefined;
}

/**
 * The values after a header's name.
 *
 * @param before the character before the name
 * @param isFirst whether the name is the first word of its line
 */
function readValues(after: string, before: string, isFirst: boolean): readonly string[] {
  const isQuote = (text: string) => /["'`]/.test(text);
  const isQuoted = isQuote(before) && after.startsWith(before);
  const rest = after.slice(isQuoted ? 1 : 0).replace(/^\]/, '');
  const isPair = isQuoted || isFirst || /[[(]/.test(before);
  const separators = [
    '\\s*(?:=>|[:=|])',
    ...(isPair ? ['\\s*,'] : []),
    ...(isFirst ? ['[\\t\\r\\n]| {2,}'] : []),
  ];
  // What precedes the value in a list of names and values, or in a value with its type.
  const label = '(?:["\'`]?value["\'`]?\\s*[:=]|\\[?\\]?string(?:\\(\\d+\\))?)?';
  const opening = new RegExp(
    `^(?:${separators.join('|')})\\s*${label}([\\s[({]*)(?:b(?=["']))?(["'\`]?)`,
    'i',
  ).exec(rest);
  if (!opening) return [];
  const [all, brackets = '', quote = ''] = opening;
  const value = rest.slice(all.length);
  if (quote && brackets.trim()) {
    const list = value.slice(0, value.search(/[\])}]|$/));
    return `${quote}${list}`.split(/["'`]/).filter((_, index) => index % 2 === 1);
  }
  if (quote) return [value.split(quote)[0] ?? ''];
  // The next line has another name: this one's value is empty.
  if (/[\r\n]/.test(all) && !brackets.trim() && /^[\w-]+["'`]?\]?\s*(?:=>|[:=])/.test(value)) return [''];
  if (isQuote(before) && !isQuoted) return [value.split(before)[0] ?? ''];
  // Another name may follow a comma without a blank: not the end of a signature in base64.
  const end = /[\r\n\t\])}|&]|[,;]?\s+["'`]?[\w-]+["'`]?\s*(=>|[:=])|,(?=[\w-]+[:=][^\s,;=\])}|&'"])|$/;
  return [value.slice(0, value.search(end)).replace(/[\s,;\\]+$/, '')];
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
