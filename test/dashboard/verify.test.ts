import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { verify } from '../../dashboard/verify';
import { secretText, sign } from '../../domain/webhook-secrets';

const names = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'];
const now = Date.UTC(2026, 10, 20, 12);
const timestamp = now / 1000 - 60;
const [key, older] = [randomBytes(32), randomBytes(32)];
const secret = secretText(key);
const id = 'msg_1';
const body = '{"id":"evt_1","data":{"name":"Zürich €"}}';
const signature = sign({ id, timestamp, body }, [key]);

interface Change {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly text?: string;
  readonly body?: string;
  readonly secret?: string;
  readonly now?: number;
}

const headersOf = (change: Change['headers'] = {}) =>
  Object.entries({
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signature,
    'X-SVC-WEBHOOK-SIGNATURE': signature,
    'Svc-Signature': signature,
    ...change,
  }).filter(([, value]) => value !== undefined);

const lines = (change?: Change['headers']) =>
  headersOf(change)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const check = ({ headers, text = lines(headers), now: at = now, ...others }: Change = {}) =>
  verify({ body, secret, ...others, headers: text }, names, at);

const allSignatures = (value: string | undefined) => Object.fromEntries(names.map((name) => [name, value]));

const received = Object.fromEntries(headersOf());
const asLists = Object.fromEntries(headersOf().map(([name, value]) => [name, [value]]));
const rotated = allSignatures(sign({ id, timestamp, body }, [key, older]));
const windows = '{\r\n"a": 1\r\n}';
const after = (seconds: number) => ({ now: (timestamp + seconds) * 1000 });
const repeated = 'appears more than once, with different values.';
const unknown = 'A signature cannot show which.';

it.each<[string, Change, string, string?]>([
  ['what the product sends', {}, 'valid', `Found in ${names.join(', ')}.`],
  ...names.map((name): [string, Change, string, string] => [
    `only ${name}`,
    { headers: { ...allSignatures(undefined), [name]: signature } },
    'valid',
    `Found in ${name}.`,
  ]),
  ['JSON', { text: JSON.stringify(received) }, 'valid'],
  ['JSON with lists of values', { text: JSON.stringify(asLists, null, 2) }, 'valid'],
  ['what Node.js prints', { text: inspect(received, { breakLength: Infinity }) }, 'valid'],
  ['what Node.js prints, line by line', { text: inspect(received, { compact: false }) }, 'valid'],
  ['what curl -v prints', { text: `> POST / HTTP/1.1\n${lines().replace(/^/gm, '> ')}\n>` }, 'valid'],
  [
    'Windows line breaks',
    { text: `POST / HTTP/1.1\r\n${lines().replaceAll('\n', '\r\n')}\r\n\r\n` },
    'valid',
  ],
  ['names in capitals', { text: lines().replace(/^[^:]+/gm, (name) => name.toUpperCase()) }, 'valid'],
  ['the new secret after a rotation', { headers: rotated }, 'valid'],
  ['the old secret after a rotation', { headers: rotated, secret: secretText(older) }, 'valid'],
  ['an unknown version', { headers: allSignatures(`v2,abc ${signature}`) }, 'valid', '“v2,abc” is ignored'],
  ['the earliest time', after(-300), 'valid'],
  ['the latest time', after(300), 'valid'],

  ['a time of the future', after(-301), 'stale', 'the delivery is 5 minutes ahead of this device’s clock'],
  ['an old time', after(301), 'stale', 'the delivery is 5 minutes old'],
  ['a very old time', after(2 * 86_400), 'stale', 'the delivery is 2 days old'],

  ['another body', { body: body.replace('evt_1', 'evt_2') }, 'invalid', unknown],
  ['another secret', { secret: secretText(older) }, 'invalid', unknown],
  ['another id', { headers: { 'webhook-id': 'msg_2' } }, 'invalid', unknown],
  ['another time', { headers: { 'webhook-timestamp': `${timestamp + 1}` } }, 'invalid', unknown],
  ['a line break at the end', { body: `${body}\n` }, 'invalid', 'without the trailing line break'],
  ['a Windows line break at the end', { body: `${body}\r\n` }, 'invalid', 'without the trailing line break'],
  ['blanks around', { body: `  ${body}\n ` }, 'invalid', 'without the surrounding white space'],
  ['pretty-printing', { body: JSON.stringify(JSON.parse(body), null, 2) }, 'invalid', 'as compact JSON'],
  [
    'line breaks changed by a text field',
    {
      headers: allSignatures(sign({ id, timestamp, body: windows }, [key])),
      body: windows.replaceAll('\r', ''),
    },
    'invalid',
    'with Windows line breaks',
  ],

  ['no headers', { text: '' }, 'incomplete', 'The header webhook-id is missing.'],
  ['no timestamp', { headers: { 'webhook-timestamp': '' } }, 'incomplete', 'webhook-timestamp is missing.'],
  ['no signature', { headers: allSignatures(undefined) }, 'incomplete', 'No signature header found.'],
  ['two ids', { text: `${lines()}\nwebhook-id: msg_2` }, 'incomplete', `The header webhook-id ${repeated}`],
  ['signatures that differ', { headers: { 'Svc-Signature': 'v1,x' } }, 'incomplete', 'Svc-Signature differ'],
  ['milliseconds', { headers: { 'webhook-timestamp': `${now}` } }, 'incomplete', 'whole seconds since 1970'],
  ['no version', { headers: allSignatures('abc') }, 'incomplete', '“abc” is ignored'],
  ['no known version', { headers: allSignatures('v1a,abc') }, 'incomplete', '“v1a,abc” is ignored'],
  [
    'a part of a signature',
    { headers: allSignatures(signature.slice(0, 19)) },
    'incomplete',
    'is ignored: it',
  ],
  ['no body', { body: '' }, 'incomplete', 'The body is missing.'],
  ['no secret', { secret: ' ' }, 'incomplete', 'The secret is missing.'],
  [
    'no start of the secret',
    { secret: secret.slice(6) },
    'incomplete',
    'The secret is not “whsec_” followed by',
  ],
  [
    'a part of a secret',
    { secret: secret.slice(0, 20) },
    'incomplete',
    'The secret is not “whsec_” followed by',
  ],
])('with %s', async (_, change, verdict, text = '') => {
  const { title, details, ...verified } = await check(change);
  expect(verified).toEqual({ verdict });
  expect([title, ...details].join(' ')).toContain(text);
});

it('names all missing fields at once', async () => {
  const { details } = await verify({ headers: '', body: '', secret: '' }, names, now);
  expect(details).toHaveLength(5);
});
