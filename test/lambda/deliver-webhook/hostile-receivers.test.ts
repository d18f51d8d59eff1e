import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { createAuthority } from '../../support/certificates';
import {
  answered,
  type Behaviour,
  endlessly,
  ends,
  good,
  head,
  receiverName as name,
  often,
  publicAddress,
  say,
  unanswered,
  useScriptedReceivers,
} from './scripted-receivers';

const scripted = useScriptedReceivers();
afterEach(() => jest.useRealTimers());
const post = (port: number, body = '{}') => scripted.client()(port, { body });

const headers = (count: number) =>
  Array.from({ length: count }, (_, index) => `x-${index}: value\r\n`).join('');
const bomb = gzipSync(Buffer.alloc(50_000_000));
const compressed = `${head}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
const redirect = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n';
const timedOut = unanswered('timeout');

/** Without our limits each would block its batch until the test times out. */
const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['sends an endless body', say(`${head}\r\n`, endlessly(Buffer.alloc(65_536))), answered()],
  ['sends its body byte by byte', say(`${head}\r\n`, often('a', 20)), answered()],
  ['sends less than its content length', say(`${head}content-length: 10\r\n\r\n`), answered()],
  ['never ends its chunks', say(`${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`), answered()],
  ['sends a compressed bomb', say(compressed, (socket) => socket.write(bomb)), answered()],
  ['sends a hundred headers', say(`${head}${headers(100)}\r\n`, ends), answered()],
  ['sends endless headers', say(head, endlessly('x: y\r\n')), unanswered('response_headers_too_large')],
  ['sends endless empty lines', say('', endlessly('\r\n'.repeat(4_096))), unanswered('response_too_large')],
  ['sends headers slowly', say(head, often('x: y\r\n', 20)), timedOut],
  ['sends its status byte by byte', say('H', often('T', 50)), unanswered('response_malformed')],
  ['never answers', () => undefined, timedOut],
  [
    'floods with interim responses',
    say('', endlessly('HTTP/1.1 102 Processing\r\n\r\n')),
    unanswered('response_too_large'),
  ],
  ['switches the protocol', say(upgrade), unanswered('protocol_switched')],
  ['redirects to a private address', say(redirect, ends), answered(302)],
  ['speaks another protocol', say('220 mail.example.com ESMTP\r\n', ends), unanswered('response_malformed')],
  ['closes without a response', say('', ends), unanswered('connection_closed')],
  // The receiver may have acted: nothing is sent again.
  ['closes after a byte of its response', say('H', ends), unanswered('connection_closed')],
];

describe.each(['new', 'reused'])('over a %s connection, a receiver that', (connection) => {
  const isReused = connection === 'reused';

  it.each(misbehaviours)('%s fails only its own attempt', async (misbehaviour, behaviour, expected) => {
    let connections = 0;
    const port = await scripted.tls((socket) => {
      connections += 1;
      if (isReused) socket.once('data', () => socket.write(good, () => behaviour(socket)));
      else behaviour(socket);
    });
    const send = scripted.client();
    if (isReused) await send(port);
    const result = await send(port, expected === timedOut ? { limit: 300 } : {});
    // A reused connection lost before any byte of a response: the request is resent over a new one.
    const isSentAgain = isReused && misbehaviour === 'closes without a response';
    expect(result).toEqual(isSentAgain ? answered() : expected);
    expect(connections).toBe(isSentAgain ? 2 : 1);
    expect(await send(await scripted.tls(say(good)))).toEqual(answered());
  });
});

it.each<readonly [string, string, AttemptResult]>([
  ['without a response', '', unanswered('connection_reset')],
  ['in its headers', `${head}x: `, unanswered('connection_reset')],
  ['in its body, with its status', `${head}content-length: 9\r\n\r\na`, answered()],
])('a connection that is reset %s fails the attempt', async (_, text, expected) => {
  // A TLS socket cannot reset: a relay in front of the receiver does.
  let front: Socket | undefined;
  const port = await scripted.tls(say(text, () => setTimeout(() => front?.resetAndDestroy(), 100)));
  const relay = await scripted.tcp((socket) => {
    front = socket;
    const back = connect(port, '127.0.0.1');
    front.pipe(back).pipe(front);
    front.on('close', () => back.destroy());
  });
  expect(await post(relay)).toEqual(expected);
});

it.each<readonly [string, string, AttemptResult]>([
  ['before the request is complete', `${head}content-length: 0\r\n\r\n`, answered()],
  [
    'with Retry-After',
    'HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n',
    { answered: true, status: 503, retryAfter: '120' },
  ],
])('accepts a response %s', async (_, text, expected) => {
  const port = await scripted.tls((socket) => socket.write(text));
  expect(await post(port, 'x'.repeat(60_000))).toEqual(expected);
});

it('accepts TLS 1.2', async () => {
  expect(await post(await scripted.tls(say(good), { maxVersion: 'TLSv1.2' }))).toEqual(answered());
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
it.each<readonly [string, object | undefined, string]>([
  ['expired', { notBefore: inDays(-3), notAfter: inDays(-2) }, 'certificate_expired'],
  ['not yet valid', { notBefore: inDays(2), notAfter: inDays(3) }, 'certificate_not_yet_valid'],
  ["another name's", { name: 'x.example.com' }, 'certificate_wrong_name'],
  ["another authority's", undefined, 'certificate_untrusted'],
])('refuses a certificate that is %s, and sends nothing', async (_name, subject, reason) => {
  let received = 0;
  const port = await scripted.tls(
    (socket) => socket.on('data', (data) => (received += data.length)),
    await (subject ? scripted.issue({ name, ...subject }) : (await createAuthority()).issue({ name })),
  );
  expect(await post(port)).toEqual(unanswered(reason));
  expect(received).toBe(0);
});

it.each<readonly [string, Behaviour, string]>([
  ['never answers', () => undefined, 'connect_timeout'],
  ['closes', say('', ends), 'connection_reset'],
  ['resets', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'connection_reset'],
  ['speaks plain http', say('HTTP/1.1 400 Bad Request\r\n\r\n', ends), 'tls_failed'],
  ['sends noise slowly', say('\x16\x03\x03', often('\x00', 50)), 'tls_failed'],
  ['sends endless noise', endlessly(Buffer.alloc(65_536, 7)), 'tls_failed'],
])('aborts the handshake with a receiver that %s', async (_name, behaviour, reason) => {
  const connectTimeout = reason === 'connect_timeout' ? 300 : 20_000;
  const send = scripted.client({ connectTimeout, timeout: 25_000 });
  expect(await send(await scripted.tcp(behaviour))).toEqual(unanswered(reason));
});

it("trusts Mozilla's authorities, and not those of NODE_EXTRA_CA_CERTS", async () => {
  const port = await scripted.tls(say(head));
  const createSecureContext = jest.spyOn(tls, 'createSecureContext');
  const { post } = createReceivers({ resolve: async () => [publicAddress], route: () => '127.0.0.1' });
  const request = { webhookId: 'wh-1', url: `https://${name}:${port}/`, headers: {}, body: '' };
  expect(await post(request)).toEqual(unanswered('certificate_untrusted'));
  // Without `ca`, Node.js adds those of the variable: https://nodejs.org/docs/latest-v24.x/api/cli.html#node_extra_ca_certsfile
  const ca = [...tls.rootCertificates];
  expect(createSecureContext).toHaveBeenCalledWith(expect.objectContaining({ ca }));
  createSecureContext.mockRestore();
});

it.each([
  ['5 s to connect', 5_000, 'tcp', 'connect_timeout'],
  ['15 s in all', 15_000, 'tls', 'timeout'],
] as const)('without settings, an attempt has %s', async (_, limit, protocol, reason) => {
  // The connections are real: only the two deadlines wait for this clock.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  let result: AttemptResult | undefined;
  await new Promise((reached) => {
    const port = scripted[protocol]((socket) => socket.once('data', reached));
    port.then(scripted.client({})).then((attempt) => (result = attempt));
  });
  await jest.advanceTimersByTimeAsync(limit - 1);
  expect(result).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(result).toEqual(unanswered(reason));
});

it('the DNS lookup is part of the 5 s to connect', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  let result: AttemptResult | undefined;
  let reach: (data: unknown) => void;
  const reached = new Promise((resolve) => (reach = resolve));
  const port = await scripted.tcp((socket) => socket.once('data', reach));
  await new Promise<void>((asked) => {
    const resolve = () => {
      asked();
      return new Promise<string[]>((found) => setTimeout(found, 4_000, [publicAddress]));
    };
    scripted
      .client({ resolve })(port)
      .then((attempt) => (result = attempt));
  });
  await jest.advanceTimersByTimeAsync(4_000);
  await reached;
  await jest.advanceTimersByTimeAsync(999);
  expect(result).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(result).toEqual(unanswered('connect_timeout'));
});
