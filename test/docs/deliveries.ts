import { randomBytes } from 'node:crypto';
import { secretText, sign } from '../../domain/signature';
import { readSource } from '../architecture/sources';
import { codeUnder } from '../support/documents';

export type Sent = Readonly<Record<string, string>>;

export const page = readSource('docs/receivers.md');

export const vector = (() => {
  const rows = page.matchAll(/^\| `?(.*?)`? \| `(.*)` \|$/gm);
  const cells = Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, value]));
  const { secret = '', 'body, UTF-8': body = '' } = cells;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = Object.fromEntries(names.map((name) => [name, cells[name] ?? '']));
  return { secret, body, headers, timestamp: Number(headers['webhook-timestamp']) };
})();

export const snippet = (heading: string): string => codeUnder('docs/receivers.md', heading)[0] as string;

/** The arguments of the guide's code for a framework, from its table; `setup` is what the body's cell also asks for. */
export function argumentsIn(framework: string): Readonly<Record<'body' | 'headers' | 'setup', string>> {
  const row = page.split('\n').find((line) => line.startsWith(`  | ${framework} |`)) ?? '';
  const [, , [, body = '', , setup = ''] = [], [, headers = ''] = []] = row
    .split(' | ')
    .map((cell) => cell.split('`'));
  return { body, headers, setup };
}

const [key, other] = [randomBytes(32), randomBytes(32)];
export const secret = secretText(key);
export const invalidSecrets = ['', 'whsec_', secret.slice(0, -4)];

export const body = ' {"id": "ev-1", "kind": "wallet.created", "data": ["€ 12", 12345678901234567890]}\n';
/** The headers that the product sends now, or so many seconds later. */
function headersOf(keys: [Uint8Array, ...Uint8Array[]], seconds = 0): Sent {
  const timestamp = Math.floor(Date.now() / 1_000) + seconds;
  const signature = sign({ id: 'msg_1', timestamp, body }, keys);
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature };
}
const headers = headersOf([key]);
const { 'webhook-signature': signature = '', ...unsigned } = headers;
const { 'webhook-timestamp': _, ...untimed } = headers;

type Delivery = readonly [name: string, isValid: boolean, headers: Sent, body?: string];

const capitals = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);

/** Requests with this body, if no other, and whether each code of the page must accept it. */
export const deliveries: readonly Delivery[] = [
  ['as sent', true, headers],
  ['in capitals', true, Object.fromEntries(capitals)],
  ['with the new secret first', true, headersOf([other, key])],
  ['with the old secret first', true, headersOf([key, other])],
  ['with another body', false, headers, `${body} `],
  ['with another id', false, { ...headers, 'webhook-id': 'msg_2' }],
  ['with a malformed time', false, { ...headers, 'webhook-timestamp': 'now' }],
  ['without a time', false, untimed],
  ['without a signature', false, unsigned],
  ['signed with another secret', false, headersOf([other])],
  ['with a truncated signature', false, { ...headers, 'webhook-signature': signature.slice(0, -4) }],
  ['an hour old', false, headersOf([key], -3_600)],
  ['of the future', false, headersOf([key], 3_600)],
];

const hostileTexts = [
  ...[309, 400, 5_000].map((digits) => '9'.repeat(digits)),
  ...['9223372036854775807', '-9223372036854775808', '1e400', 'NaN', '-', '٣', '\ud800', '\0', '%', '🤷'],
];

/** The headers of no delivery of ours: each code of the page refuses them, and none raises an error. */
export const hostileHeaders: readonly Sent[] = [
  {},
  ...Object.keys(headers).flatMap((name) => hostileTexts.map((text) => ({ ...headers, [name]: text }))),
];
