import tls from 'node:tls';
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

const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
const redirect = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n';
const timedOut = unanswered('timeout');

/** Without our limits each would block its batch until the test times out. */
const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['sends an endless body', say(`${head}\r\n`, endlessly(Buffer.alloc(65_536))), answered()],
  ['sends its body byte by byte', say(`${head}\r\n`, often('a', 20)), answered()],
  ['closes in its body', say(`${head}content-length: 9\r\n\r\na`, ends), answered()],
  ['sends endless headers', say(head, endlessly('x: y\r\n')), unanswered('response_headers_too_large')],
  ['sends endless empty lines', say('', endlessly('\r\n'.repeat(4_096))), unanswered('response_too_large')],
  ['sends headers slowly', say(head, often('x: y\r\n', 20)), timedOut],
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

it('accepts TLS 1.2, and a response with Retry-After before the request is complete', async () => {
  const busy = 'HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n';
  const port = await scripted.tls((socket) => socket.write(busy), { maxVersion: 'TLSv1.2' });
  const result = await scripted.client()(port, { body: 'x'.repeat(20_000_000) });
  expect(result).toEqual({ answered: true, status: 503, retryAfter: '120' });
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
  expect(await scripted.client()(port)).toEqual(unanswered(reason));
  expect(received).toBe(0);
});

it.each([
  ['closes', '', 'connection_reset'],
  ['speaks plain http', 'HTTP/1.1 400 Bad Request\r\n\r\n', 'tls_failed'],
])('aborts the handshake with a receiver that %s', async (_name, text, reason) => {
  expect(await scripted.client()(await scripted.tcp(say(text, ends)))).toEqual(unanswered(reason));
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
  ['5 s to look up the name and connect', 5_000, 'tcp', 'connect_timeout'],
  ['15 s in all', 15_000, 'tls', 'timeout'],
] as const)('without settings, an attempt has %s', async (_, limit, protocol, reason) => {
  // The connections are real: only the lookup and the two deadlines wait for this clock.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const lookup = 4_000;
  const resolve = () => new Promise<string[]>((found) => setTimeout(found, lookup, [publicAddress]));
  let result: AttemptResult | undefined;
  const reached = new Promise((reach) => {
    const port = scripted[protocol]((socket) => socket.once('data', reach));
    port.then(scripted.client({ resolve })).then((attempt) => (result = attempt));
  });
  while (jest.getTimerCount() === 0) await new Promise(setImmediate);
  await jest.advanceTimersByTimeAsync(lookup);
  await reached;
  await jest.advanceTimersByTimeAsync(limit - lookup - 1);
  expect(result).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(result).toEqual(unanswered(reason));
});
