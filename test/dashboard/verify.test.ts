import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { splitDelivery, verify } from '../../dashboard/verify';
import { secretText, sign } from '../../domain/signature';

const names = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'];
const now = Date.UTC(2026, 10, 20, 12);
const timestamp = now / 1000 - 60;
const [key, older] = [randomBytes(32), randomBytes(32)];
const [secret, otherSecret] = [secretText(key), secretText(older)];
const id = 'msg_1';
const body = '{"id":"evt_1","data":{"name":"Zürich €"}}';
const signature = sign({ id, timestamp, body }, [key]);

interface Change extends Partial<Record<'text' | 'body' | 'secret', string>> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly now?: number;
}

/** The same signature in each of its headers. */
const signed = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
const received = {
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': `${timestamp}`,
  ...signed(signature),
};
const asLists = Object.fromEntries(Object.entries(received).map(([name, value]) => [name, [value]]));
const lines = (headers?: Change['headers']) =>
  Object.entries({ ...received, ...headers })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const check = ({ headers, text = lines(headers), now: at = now, ...others }: Change) =>
  verify({ body, secret, ...others, headers: text }, names, at);

const onlyLast = { ...signed(''), 'Svc-Signature': signature };
const rotated = signed(sign({ id, timestamp, body }, [key, older]));
const escaped = JSON.stringify(body);
const windows = '{\r\n"a": 1\r\n}';
const fromWindows = signed(sign({ id, timestamp, body: windows }, [key]));
const unlike = { headers: fromWindows, body: windows.replaceAll('\r', '') };
const after = (seconds: number) => ({ now: (timestamp + seconds) * 1000 });
const unknown = 'A signature cannot show which.';
const notASecret = 'The secret is not “whsec_” followed by';

it.each<[string, Change, string, string?]>([
  ['what the product sends', {}, 'valid', `Found in ${names.join(', ')}.`],
  ['only one signature header', { headers: onlyLast }, 'valid', 'Found in Svc-Signature.'],
  ['JSON with lists of values', { text: JSON.stringify(asLists, null, 2) }, 'valid'],
  ['what Node.js prints', { text: inspect(received, { breakLength: Infinity }) }, 'valid'],
  ['what curl -v prints', { text: `> POST / HTTP/1.1\n${lines().replace(/^/gm, '> ')}\n>` }, 'valid'],
  ['Windows line breaks', { text: lines().replaceAll('\n', '\r\n') }, 'valid'],
  ['the old secret after a rotation', { headers: rotated, secret: otherSecret }, 'valid'],
  ['an unknown version', { headers: signed(`v2,abc ${signature}`) }, 'valid', '“v2,abc” is ignored'],
  ['the earliest time', after(-300), 'valid'],

  ['a time of the future', after(-301), 'stale', 'the delivery is 5 minutes ahead of this device’s clock'],
  ['an old time', after(301), 'stale', 'the delivery is 5 minutes old'],

  ['another body', { body: body.replace('evt_1', 'evt_2') }, 'invalid', unknown],
  ['another secret', { secret: otherSecret }, 'invalid', unknown],
  ['a line break at the end', { body: `${body}\n` }, 'invalid', 'without the trailing line break'],
  ['an escaped body', { body: escaped }, 'invalid', 'without the escapes'],
  ['an escaped body without its quotes', { body: escaped.slice(1, -1) }, 'invalid', 'escapes'],
  ['pretty-printing', { body: JSON.stringify(JSON.parse(body), null, 2) }, 'invalid', 'as compact JSON'],
  ['line breaks changed by a text field', unlike, 'invalid', 'with Windows line breaks'],

  ['no timestamp', { headers: { 'webhook-timestamp': '' } }, 'incomplete', 'webhook-timestamp is missing.'],
  ['two ids', { text: `${lines()}\nwebhook-id: msg_2` }, 'incomplete', 'webhook-id appears twice'],
  ['signatures that differ', { headers: { 'Svc-Signature': 'v1,x' } }, 'incomplete', 'Svc-Signature differ'],
  ['milliseconds', { headers: { 'webhook-timestamp': `${now}` } }, 'incomplete', 'whole seconds since 1970'],
  ['no known version', { headers: signed('v1a,abc') }, 'incomplete', '“v1a,abc” is ignored'],
  ['a part of a secret', { secret: secret.slice(0, 20) }, 'incomplete', notASecret],
])('with %s', async (_, change, verdict, text = '') => {
  const { title, details, problems = [], compared, ...verified } = await check(change);
  expect(verified).toEqual({ verdict });
  expect([title, ...details, ...problems.map(([, problem]) => problem)].join(' ')).toContain(text);
  // What is compared agrees with the verdict, unless the pasted body is not the one that was signed.
  expect(compared?.received.includes(compared.expected) ?? 'incomplete').toBe(
    { valid: true, stale: true, invalid: false, incomplete: 'incomplete' }[verdict],
  );
});

it('names all missing fields at once', async () => {
  const { verdict, problems } = await verify({ headers: '', body: '', secret: '' }, names, now);
  expect(verdict).toBe('incomplete');
  expect(problems?.map(([field]) => field)).toEqual(['headers', 'headers', 'headers', 'body', 'secret']);
});

it('shows the id, timestamp and body that are signed, their signature and those received', async () => {
  const { compared } = await check({ headers: rotated });
  const received = rotated['Svc-Signature']?.split(' ');
  expect(compared).toEqual({ signed: [id, `${timestamp}`, body], expected: signature, received });
});

it.each([
  ['a line of wallet local receive', JSON.stringify({ date: '', verified: true, headers: received, body })],
  ['a whole request', `POST / HTTP/1.1\r\n${lines().replaceAll('\n', '\r\n')}\r\n\r\n${body}`],
  ['headers in another order', `${lines().split('\n').reverse().join('\n')}\n\n${body}`],
])('divides %s into headers and body that verify', async (_, text) => {
  const [headers = '', divided] = splitDelivery(text) ?? [];
  expect(divided).toBe(body);
  expect(await check({ text: headers })).toMatchObject({ verdict: 'valid' });
});

it.each([
  ['headers', lines()],
  ['a body', body],
])('does not divide %s', (_, text) => expect(splitDelivery(text)).toBeUndefined());
