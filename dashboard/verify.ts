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
}

/** The base64 of 32 bytes: of a secret, and of an HMAC-SHA-256. */
const base64 = '[A-Za-z0-9+/]{43}=?$';

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
  const [[id], [timestamp = '']] = [valuesOf('webhook-id'), valuesOf('webhook-timestamp')];
  const found = signatureHeaders.filter((name) => valuesOf(name).length > 0);
  const values = new Set(found.flatMap(valuesOf));
  const signatures = [...values].join(' ').split(/\s+/).filter(Boolean);
  const known = signatures.filter((each) => new RegExp(`^v1,${base64}`).test(each));
  const ignored = signatures
    .filter((each) => !known.includes(each))
    .map((each) => `“${each}” is ignored: it is not “v1,” followed by 44 characters of base64.`);
  const secret = pastedSecret.trim();

  const problems: [applies: boolean, problem: string][] = [
    ...['webhook-id', 'webhook-timestamp'].flatMap((name): [boolean, string][] => [
      [valuesOf(name).length === 0, `The header ${name} is missing.`],
      [valuesOf(name).length > 1, `The header ${name} appears more than once, with different values.`],
    ]),
    [!/^\d{0,11}$/.test(timestamp), `webhook-timestamp is “${timestamp}”, not whole seconds since 1970.`],
    [found.length === 0, `No signature header found. Expected: ${signatureHeaders.join(', ')}.`],
    [
      values.size > 1,
      `${found.join(', ')} differ, although the service sends the same value in each: something changed them on the way.`,
    ],
    [found.length > 0 && known.length === 0, ignored.join(' ')],
    [secret === '', 'The secret is missing.'],
    [
      secret !== '' && !new RegExp(`^whsec_${base64}`).test(secret),
      'The secret is not “whsec_” followed by 44 characters of base64: part of it was lost or changed.',
    ],
    [body === '', 'The body is missing.'],
  ];
  const details = problems.flatMap(([applies, problem]) => (applies ? [problem] : []));
  if (details.length > 0)
    return { verdict: 'incomplete', title: 'Cannot verify: the input is incomplete', details };

  const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (each) => each.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const isValidFor = async (text: string) => {
    const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
    const hmac = new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
    const expected = `v1,${btoa(String.fromCharCode(...hmac))}`;
    return known.some((each) => each.padEnd(expected.length, '=') === expected);
  };
  if (await isValidFor(body)) {
    return checkAge(Math.floor(now / 1000) - Number(timestamp), [
      `Found in ${found.join(', ')}.`,
      ...ignored,
    ]);
  }
  const title = 'The signature is invalid';
  for (const [how, changed] of changedBodies(body)) {
    if (!(await isValidFor(changed))) continue;
    const remedy = 'Verify the raw bytes, before anything parses or reformats them.';
    const cause = `It is valid for the body ${how}, so the secret, id and timestamp are right. ${remedy}`;
    return { verdict: 'invalid', title: `${title}: the body was changed`, details: [cause, ...ignored] };
  }
  const questions = [
    'The body, id or timestamp was changed, or the secret is wrong. A signature cannot show which.',
    'Is this exactly the body that arrived with these headers, byte for byte?',
    'Is this the secret of this webhook in this environment? An old secret stops working 24 hours after its rotation.',
  ];
  return { verdict: 'invalid', title, details: [...questions, ...ignored] };
}

/** @param age seconds */
function checkAge(age: number, details: readonly string[]): Verification {
  const off = Math.abs(age);
  if (off <= 300) return { verdict: 'valid', title: 'The signature is valid', details };
  const [unit, size] = off < 3_600 ? ['minute', 60] : off < 86_400 ? ['hour', 3_600] : ['day', 86_400];
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  const span = `${format.format(Math.floor(off / size))} ${age > 0 ? 'old' : 'ahead of this device’s clock'}`;
  const reason =
    'Receivers reject a timestamp that is more than 5 minutes off: it may be a replay. For a delivery that you pasted later, this is expected; otherwise check the clocks.';
  return {
    verdict: 'stale',
    title: `The signature is valid, but the delivery is ${span}`,
    details: [reason, ...details],
  };
}

/** Reverts common changes to a copied body, one at a time. */
function changedBodies(body: string): (readonly [how: string, body: string])[] {
  const compact = parseObject(body);
  const changed: [string, string][] = [
    ['without the trailing line break', body.replace(/\r?\n$/, '')],
    ['without the surrounding white space', body.trim()],
    ['with a trailing line break', `${body}\n`],
    ['with Windows line breaks', body.replaceAll('\n', '\r\n')],
    ['as compact JSON (something reformatted it)', compact ? JSON.stringify(compact) : body],
  ];
  return changed.filter(([, each]) => each !== body);
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

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
