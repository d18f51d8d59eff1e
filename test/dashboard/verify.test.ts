import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
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

describe('a delivery as the product signs it', () => {
  it('verifies, here and with the library that receivers use', async () => {
    expect(await check()).toEqual({
      verdict: 'valid',
      title: 'The signature is valid',
      details: ['Found in webhook-signature, X-SVC-WEBHOOK-SIGNATURE, Svc-Signature.'],
    });
    const fresh = Math.floor(Date.now() / 1000);
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': `${fresh}`,
      'webhook-signature': sign({ id, timestamp: fresh, body }, [key]),
    };
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
  });

  it.each(names)('verifies with only %s', async (name) => {
    const headers = { ...allSignatures(undefined), [name]: signature };
    expect(await check({ headers })).toMatchObject({
      verdict: 'valid',
      details: expect.arrayContaining([`Found in ${name}.`]),
    });
  });

  const received = Object.fromEntries(headersOf());
  it.each<[string, string]>([
    ['JSON', JSON.stringify(received)],
    [
      'JSON with lists of values',
      JSON.stringify(Object.fromEntries(headersOf().map(([n, v]) => [n, [v]])), null, 2),
    ],
    ['what Node.js prints', inspect(received, { breakLength: Number.POSITIVE_INFINITY })],
    ['what Node.js prints, line by line', inspect(received, { compact: false })],
    ['what curl -v prints', `> POST / HTTP/1.1\n${lines().replace(/^/gm, '> ')}\n>`],
    ['a request with Windows line breaks', `POST / HTTP/1.1\r\n${lines().replaceAll('\n', '\r\n')}\r\n\r\n`],
    ['names in capitals', lines().replace(/^[^:]+/gm, (name) => name.toUpperCase())],
  ])('verifies with headers as %s', async (_, text) => {
    expect(await check({ text })).toMatchObject({ verdict: 'valid' });
  });

  it('verifies after a rotation, with the new secret and with the old one', async () => {
    const headers = allSignatures(sign({ id, timestamp, body }, [key, older]));
    expect(await check({ headers })).toMatchObject({ verdict: 'valid' });
    expect(await check({ headers, secret: secretText(older) })).toMatchObject({ verdict: 'valid' });
  });

  it('verifies beside a signature of an unknown version, and reports that it was ignored', async () => {
    expect(await check({ headers: allSignatures(`v2,abc ${signature}`) })).toMatchObject({
      verdict: 'valid',
      details: expect.arrayContaining([expect.stringContaining('“v2,abc” is ignored')]),
    });
  });
});

describe('time', () => {
  it.each([
    [-301, '5 minutes ahead of this device’s clock'],
    [301, '5 minutes old'],
    [2 * 86_400, '2 days old'],
  ])('%i s off, the signature verifies but is too old or too early', async (seconds, span) => {
    expect(await check({ now: (timestamp + seconds) * 1000 })).toMatchObject({
      verdict: 'stale',
      title: `The signature is valid, but the delivery is ${span}`,
    });
  });

  it.each([-300, 0, 300])('%i s off, the signature verifies', async (seconds) => {
    expect(await check({ now: (timestamp + seconds) * 1000 })).toMatchObject({ verdict: 'valid' });
  });
});

describe('an invalid signature', () => {
  const unknownCause = {
    verdict: 'invalid',
    title: 'The signature is invalid',
    details: expect.arrayContaining([expect.stringContaining('A signature cannot show which.')]),
  };

  it.each<[string, Change]>([
    ['another body', { body: body.replace('evt_1', 'evt_2') }],
    ['another secret', { secret: secretText(older) }],
    ['another id', { headers: { 'webhook-id': 'msg_2' } }],
    ['another time', { headers: { 'webhook-timestamp': `${timestamp + 1}` } }],
  ])('%s: names no unknowable cause', async (_, change) => {
    expect(await check(change)).toMatchObject(unknownCause);
  });

  it.each<[string, string, string]>([
    ['a line break at the end', `${body}\n`, 'without the trailing line break'],
    ['a Windows line break at the end', `${body}\r\n`, 'without the trailing line break'],
    ['blanks around', `  ${body}\n `, 'without the surrounding white space'],
    ['pretty-printing', JSON.stringify(JSON.parse(body), null, 2), 'as compact JSON'],
  ])('a body with %s: names the change', async (_, changed, how) => {
    expect(await check({ body: changed })).toMatchObject({
      verdict: 'invalid',
      title: 'The signature is invalid: the body was changed',
      details: expect.arrayContaining([expect.stringContaining(`It is valid for the body ${how}`)]),
    });
  });

  it('line breaks changed by a text field: names the change', async () => {
    const original = '{\r\n"a": 1\r\n}';
    const headers = allSignatures(sign({ id, timestamp, body: original }, [key]));
    expect(await check({ headers, body: original.replaceAll('\r', '') })).toMatchObject({
      details: expect.arrayContaining([expect.stringContaining('with Windows line breaks')]),
    });
  });
});

describe('unverifiable input', () => {
  it.each<[string, Change, string]>([
    ['no headers', { text: '' }, 'The header webhook-id is missing.'],
    ['no id', { headers: { 'webhook-id': undefined } }, 'The header webhook-id is missing.'],
    ['no timestamp', { headers: { 'webhook-timestamp': '' } }, 'The header webhook-timestamp is missing.'],
    [
      'no signature',
      { headers: allSignatures(undefined) },
      'No signature header found. Expected: webhook-signature, X-SVC-WEBHOOK-SIGNATURE, Svc-Signature.',
    ],
    [
      'two ids',
      { text: `${lines()}\nwebhook-id: msg_2` },
      'The header webhook-id appears more than once, with different values.',
    ],
    ['signatures that differ', { headers: { 'Svc-Signature': 'v1,x' } }, 'Svc-Signature differ'],
    [
      'a date for a timestamp',
      { headers: { 'webhook-timestamp': '2026-11-20T12:00:00Z' } },
      'whole seconds since 1970',
    ],
    ['milliseconds', { headers: { 'webhook-timestamp': `${now}` } }, 'whole seconds since 1970'],
    ['a fraction', { headers: { 'webhook-timestamp': '1795176000.5' } }, 'whole seconds since 1970'],
    ['no version', { headers: allSignatures('abc') }, '“abc” is ignored'],
    ['an unknown version', { headers: allSignatures('v1a,abc') }, '“v1a,abc” is ignored'],
    ['a signature that is not base64', { headers: allSignatures('v1,%%%') }, '“v1,%%%” is ignored'],
    [
      'a part of a signature',
      { headers: allSignatures(signature.slice(0, 19)) },
      'is ignored: it is not “v1,” followed by',
    ],
    ['no body', { body: '' }, 'The body is missing.'],
    ['no secret', { secret: ' ' }, 'The secret is missing.'],
    ['a secret without its beginning', { secret: secret.slice(6) }, 'The secret is not “whsec_” followed by'],
    ['a secret that is not base64', { secret: 'whsec_a b' }, 'The secret is not “whsec_” followed by'],
    ['a part of a secret', { secret: secret.slice(0, 20) }, 'The secret is not “whsec_” followed by'],
  ])('%s', async (_, change, problem) => {
    const { verdict, title, details } = await check(change);
    expect({ verdict, title }).toEqual({
      verdict: 'incomplete',
      title: 'Cannot verify: the input is incomplete',
    });
    expect(details.join(' ')).toContain(problem);
  });

  it('names all missing fields at once', async () => {
    const { details } = await verify({ headers: '', body: '', secret: '' }, names, now);
    expect(details).toHaveLength(5);
  });
});
