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

/** The headers that are signed, with the forms of their values. */
const signedHeaders = { 'webhook-id': 'msg_[\\w-]+', 'webhook-timestamp': '\\d[\\w:.-]*' };
const signatureForm = 'v\\d\\w*,[\\w+/=-]*';

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
  const read = (name: string, form: string) => ({ name, values: readHeader(pastedHeaders, name, form) });
  const named = Object.entries(signedHeaders).map(([name, form]) => read(name, form));
  const [id = '', timestamp = ''] = named.map(({ values }) => values[0] ?? '');
  const found = signatureHeaders
    .map((name) => read(name, `${signatureForm}(?: +${signatureForm})*`))
    .filter(({ values }) => values.length > 0);
  const foundNames = found.map(({ name }) => name).join(', ');
  const missing = [
    ...named.filter(({ values }) => values.length === 0).map(({ name }) => name),
    ...(found.length === 0 ? [`one of ${signatureHeaders.join(', ')}`] : []),
  ];
  const twice = named.filter(({ values }) => values.length > 1).map(({ name }) => name);
  const values = new Set(found.flatMap((each) => each.values));
  const signatures = [...values].flatMap((value) => value.split(/ +/));
  const received = signatures.filter((each) => new RegExp(`^v1,${base64}`).test(each));
  const ignored = signatures
    .filter((each) => !received.includes(each))
    .map((each) => `“${each}” is ignored: it is not “v1,” followed by 44 characters of base64.`);
  const secret = pastedSecret.trim();

  const rules: Readonly<Record<keyof PastedDelivery, readonly (string | false)[]>> = {
    headers: [
      missing.length > 0 &&
        `Not found, or not in a form that this page reads: ${missing.join(', ')}. Write “name: value” on a line for each.`,
      twice.length > 0 && `${twice.join(', ')} appears twice, with different values.`,
      !/^\d{0,11}$/.test(timestamp) && `webhook-timestamp is “${timestamp}”, not whole seconds since 1970.`,
      values.size > 1 && `${foundNames} differ, but are sent with the same value: something changed them.`,
      found.length > 0 && received.length === 0 && ignored.join(' '),
    ],
    body: [body === '' && 'The body is missing.'],
    secret: [
      secret === '' && 'The secret is missing.',
      !new RegExp(`^$|^whsec_${base64}`).test(secret) &&
        'The secret is not “whsec_” followed by 44 characters of base64: part of it was lost or changed.',
    ],
  };
  const problems = Object.entries(rules).flatMap(([field, sentences]) =>
    sentences.filter((sentence) => sentence !== false).map((sentence) => [field, sentence] as const),
  );
  if (problems.length > 0)
    return { verdict: 'incomplete', title: 'Cannot verify: the input is incomplete', details: [], problems };

  const signed = [id, timestamp, body];
  const expected = await sign(signed, secret);
  const compared = { signed, expected, received };
  const isReceived = (signature: string) => received.some((each) => each.padEnd(47, '=') === signature);
  if (isReceived(expected)) {
    const age = Math.floor(now / 1000) - Number(timestamp);
    return { ...checkAge(age, [`Found in ${foundNames}.`, ...ignored]), compared };
  }
  for (const [how, changed] of changedBodies(body)) {
    if (!isReceived(await sign([id, timestamp, changed], secret))) continue;
    const remedy = 'Verify the raw bytes, before anything parses or reformats them.';
    const cause = `It is valid for the body ${how}, so the secret, id and timestamp are right. ${remedy}`;
    const title = 'The signature is invalid: the body was changed';
    return { verdict: 'invalid', title, details: [cause, ...ignored], compared };
  }
  const questions = [
    'The body, id or timestamp was changed, or the secret is wrong. A signature cannot show which.',
    ...(unescaped(body) === undefined ? [] : ['The body is escaped (\\"): paste it as it arrived.']),
    'Is this exactly the body that arrived with these headers, byte for byte?',
    'Is this the secret of this webhook in this environment? An old secret stops working 24 hours after its rotation.',
  ];
  const details = [...questions, ...ignored];
  return { verdict: 'invalid', title: 'The signature is invalid', details, compared };
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
  const parsed = parse(body);
  const changed: [string, string][] = [
    ['without the surrounding white space', body.trim()],
    ['with a trailing line break', `${body}\n`],
    ['with Windows line breaks', body.replaceAll('\n', '\r\n')],
    ['without the escapes (it is a JSON string of the body)', unescaped(body) ?? body],
    ['as compact JSON (something reformatted it)', parsed === undefined ? body : JSON.stringify(parsed)],
  ];
  return changed.filter(([, each]) => each !== body);
}

/** The text whose JSON string this is, with or without quotes around it. */
const unescaped = (body: string): string | undefined =>
  /^\s*"?\s*\{\s*\\"/.test(body) ? parse<string>(`"${body.trim().replace(/^"|"$/g, '')}"`) : undefined;

/** Divides what holds both headers and body: an object in JSON, a curl command, or a request with an empty line between them. */
export function splitDelivery(text: string): readonly [headers: string, body: string] | undefined {
  const { headers, body } = parse<{ headers?: object; body?: unknown }>(text) ?? {};
  if (headers && typeof body === 'string') return [JSON.stringify(headers, null, 2), body];
  const [, command, data] =
    /^(\s*curl\b[\s\S]*?)\s(?:-d|--data(?:-raw|-binary)?)[ =]+'([\s\S]*?)'(?!\\'')/.exec(text) ?? [];
  if (command && data) return [command, data.replaceAll("'\\''", "'")];
  const [, head, rest] = /^([^{]*?(?::|=>)[^{]*?)\r?\n\r?\n(["']?\{[\s\S]*)$/.exec(text) ?? [];
  return head && rest ? [head, rest] : undefined;
}

/** What tools write between a header's name and its value: punctuation, the value's name, its type, or its index in an array. */
const between = /\W|value|string(?:\(\d+\))?|b(?=["'])|array(?:[ :(]*(?:size=)?\d+)?|\d+(?=\]?\s*=>)/.source;

/**
 * The different values of a header, wherever tools show its name and then a value of this form: lines, curl, JSON, Node.js, Go,
 * Python, PHP, Ruby, Java, CGI's variables, tables, and a browser's two lines.
 */
function readHeader(text: string, name: string, form: string): readonly string[] {
  const named = `(?<![\\w-])(?:HTTP_)?${name.replaceAll('-', '[-_]')}`;
  // The lookahead takes all of it or none: part of an empty array, such as its length, is no value.
  const found = text.matchAll(new RegExp(`${named}(?=((?:${between})*))\\1(${form})`, 'gi'));
  return [...new Set(Array.from(found, ([, , value = '']) => value))];
}

function parse<Value>(text: string): Value | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
