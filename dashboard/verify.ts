/** A pasted delivery. */
export interface PastedDelivery {
  readonly headers: string;
  /** The raw body, before any parsing. */
  readonly body: string;
  readonly secret: string;
}

export interface Verification {
  /** `stale`: valid, but too old for a receiver. `incomplete`: input is missing or malformed. */
  readonly verdict: 'holds' | 'stale' | 'refused' | 'incomplete';
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
    .map((each) => `“${each}” is ignored: it is not “v1,” and 44 characters of base64.`);
  const secret = pastedSecret.trim();

  const problems: [isSo: boolean, problem: string][] = [
    ...['webhook-id', 'webhook-timestamp'].flatMap((name): [boolean, string][] => [
      [valuesOf(name).length === 0, `The header ${name} is missing.`],
      [valuesOf(name).length > 1, `The header ${name} is there more than once, with different values.`],
    ]),
    [!/^\d{0,11}$/.test(timestamp), `webhook-timestamp is “${timestamp}”, not whole seconds since 1970.`],
    [found.length === 0, `No signature header is there: ${signatureHeaders.join(', ')}.`],
    [values.size > 1, `${found.join(', ')} differ, but are sent with one value: something changed them.`],
    [found.length > 0 && known.length === 0, ignored.join(' ')],
    [secret === '', 'The secret is missing.'],
    [
      secret !== '' && !new RegExp(`^whsec_${base64}`).test(secret),
      'The secret is not “whsec_” and 44 characters of base64: some were changed or lost.',
    ],
    [body === '', 'The body is missing.'],
  ];
  const details = problems.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
  if (details.length > 0) return { verdict: 'incomplete', title: 'It cannot be verified', details };

  const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (each) => each.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const holdsFor = async (text: string) => {
    const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
    const hmac = new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
    const expected = `v1,${btoa(String.fromCharCode(...hmac))}`;
    return known.some((each) => each.padEnd(expected.length, '=') === expected);
  };
  if (await holdsFor(body)) {
    return ofAge(Math.floor(now / 1000) - Number(timestamp), [`Found in ${found.join(', ')}.`, ...ignored]);
  }
  const title = 'The signature does not hold';
  for (const [how, changed] of changedBodies(body)) {
    if (!(await holdsFor(changed))) continue;
    const remedy = 'Verify the bytes as they arrive, before anything parses or prints them.';
    const cause = `It holds for the body ${how}. Secret, id and timestamp are right. ${remedy}`;
    return { verdict: 'refused', title: `${title}: the body was changed`, details: [cause, ...ignored] };
  }
  const questions = [
    'Body, id or timestamp were changed, or the secret is another one. A signature cannot show which.',
    'Is this the body that arrived with these very headers, byte by byte?',
    'Is this the secret of this webhook in this environment? 24 hours after a rotation, the old one no longer signs.',
  ];
  return { verdict: 'refused', title, details: [...questions, ...ignored] };
}

/** @param age seconds */
function ofAge(age: number, details: readonly string[]): Verification {
  const off = Math.abs(age);
  if (off <= 300) return { verdict: 'holds', title: 'The signature holds', details };
  const [unit, size] = off < 3_600 ? ['minute', 60] : off < 86_400 ? ['hour', 3_600] : ['day', 86_400];
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  const span = `${format.format(Math.floor(off / size))} ${age > 0 ? 'old' : 'ahead of this device’s clock'}`;
  const reason =
    'A receiver refuses a timestamp that is more than 5 minutes off: it may be a replay. If you only paste it later than that, nothing is wrong; otherwise check the clocks.';
  return {
    verdict: 'stale',
    title: `The signature holds, but the delivery is ${span}`,
    details: [reason, ...details],
  };
}

/** Reverts common changes to a copied body, one at a time. */
function changedBodies(body: string): (readonly [how: string, body: string])[] {
  const compact = parseObject(body);
  const changed: [string, string][] = [
    ['without the line break at its end', body.replace(/\r?\n$/, '')],
    ['without the white space around it', body.trim()],
    ['with a line break at its end', `${body}\n`],
    ['with Windows line breaks', body.replaceAll('\n', '\r\n')],
    ['as compact JSON: something parsed and rewrote it', compact ? JSON.stringify(compact) : body],
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
