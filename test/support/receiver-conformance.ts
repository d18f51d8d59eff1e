import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { type SignedContent, secretText, sign } from '../../domain/webhook-secrets';

/** Gives a receiver one delivery. @returns the status that it answers with: 204 or 401 */
export type Receive = (headers: Readonly<Record<string, string>>, body: string) => Promise<number> | number;

const key = randomBytes(32);
/** The secret that a receiver under test has to know. */
export const receiverSecret = secretText(key);

const present = () => Math.floor(Date.now() / 1_000);
const content = (timestamp: number): SignedContent => ({
  id: 'msg_1',
  timestamp,
  body: ' {"id": "ev-1", "kind": "wallet.created", "data": ["€ 12", 12345678901234567890]}\n',
});
const headers = ({ id, timestamp }: SignedContent, signature: string) => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
});

export function deliverySignedBy(secret: Uint8Array) {
  const signed = content(present());
  return { headers: headers(signed, sign(signed, [secret])), body: signed.body };
}

/** Holds a receiver to what it has to accept and refuse, by deliveries that the product signs. */
export function itVerifies(receive: Receive): void {
  const other = randomBytes(32);
  const signed = content(present());
  const signature = sign(signed, [key]);

  it.each<[string, (name: string) => string]>([
    ['as they are sent', (name) => name],
    ['in capitals', (name) => name.toUpperCase()],
    ['in title case', (name) => name.replace(/\b\w/g, (letter) => letter.toUpperCase())],
  ])('accepts what was signed, with names of headers %s', async (_, change) => {
    const entries = Object.entries(headers(signed, signature)).map(([name, value]) => [change(name), value]);
    expect(await receive(Object.fromEntries(entries), signed.body)).toBe(204);
  });

  it('accepts its secret before and after a rotation', async () => {
    expect(await receive(headers(signed, sign(signed, [other, key])), signed.body)).toBe(204);
    expect(await receive(headers(signed, sign(signed, [key, other])), signed.body)).toBe(204);
  });

  it.each<[string, Readonly<Record<string, string | undefined>>, string]>([
    ['another body', {}, `${signed.body} `],
    ['an empty body', {}, ''],
    ['another id', { 'webhook-id': 'msg_2' }, signed.body],
    ['no id', { 'webhook-id': undefined }, signed.body],
    ['another time', { 'webhook-timestamp': String(signed.timestamp + 1) }, signed.body],
    ['noise for a time', { 'webhook-timestamp': 'now' }, signed.body],
    ['no time', { 'webhook-timestamp': undefined }, signed.body],
    ['an empty signature', { 'webhook-signature': '' }, signed.body],
    ['no signature', { 'webhook-signature': undefined }, signed.body],
    ['a signature by another secret', { 'webhook-signature': sign(signed, [other]) }, signed.body],
    ['a signature cut short', { 'webhook-signature': signature.slice(0, -4) }, signed.body],
    ['a signature of another version', { 'webhook-signature': signature.replace('v1', 'v2') }, signed.body],
  ])('refuses %s', async (_, change, body) => {
    const changed = Object.entries({ ...headers(signed, signature), ...change });
    const sent = changed.filter((entry): entry is [string, string] => entry[1] !== undefined);
    expect(await receive(Object.fromEntries(sent), body)).toBe(401);
  });

  it.each([-3_600, 3_600])('refuses what was signed for %i seconds from now', async (seconds) => {
    const away = content(present() + seconds);
    expect(await receive(headers(away, sign(away, [key])), away.body)).toBe(401);
  });
}

/** Posts a delivery to `/webhooks` of a receiver on this machine: header names go over the line as they are given. */
export const postTo = (
  port: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/webhooks', method: 'POST', headers, agent: false };
    const sent = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end(body);
  });
