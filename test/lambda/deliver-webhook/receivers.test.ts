import { type AddressInfo, createServer as createTcpServer, type Server, Socket } from 'node:net';
import tls, { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';
import type { AttemptReason } from '../../../domain/delivery';
import {
  createReceivers,
  type ReceiverSettings,
  type Resolve,
  resolveByDns,
} from '../../../lambda/deliver-webhook/receivers';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { createAuthority, type TestAuthority } from '../../support/certificates';
import { eventually } from '../../support/eventually';
import { startDnsServer } from './dns-server';

const name = 'hooks.example.com';
const publicAddress = '93.184.216.34';
let authority: TestAuthority;
let certificate: { readonly key: string; readonly cert: string };
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue({ name });
});
afterEach(() => jest.useRealTimers());
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
});

/** What a receiver on this machine does with a connection. */
type Behaviour = (socket: Socket) => void;

/** @returns the port */
async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const startTcp = (behaviour: Behaviour) => listen(createTcpServer(behaviour));
function startTls(behaviour: Behaviour, options: TlsOptions = {}) {
  const server = createTlsServer({ noDelay: true, ...certificate, ...options }, (socket) => {
    socket.on('error', () => undefined);
    behaviour(socket);
  });
  return listen(server.on('tlsClientError', () => undefined));
}

/** @param settings @default - a minute for each: other limits end an attempt */
function client(
  settings: ReceiverSettings = { connectTimeout: 60_000, timeout: 60_000, idleTimeout: 60_000 },
) {
  const receivers = createReceivers({
    certificateAuthorities: [authority.cert],
    resolve: async () => [publicAddress],
    route: () => '127.0.0.1',
    ...settings,
  });
  return (port: number, change: { body?: string; webhookId?: string; limit?: number } = {}) => {
    const url = `https://${name}:${port}/in`;
    return receivers.post({ webhookId: 'wh-1', url, headers: {}, body: '{}', ...change });
  };
}

/** Writes the text once the request has begun to arrive. */
const say =
  (text: string, then: Behaviour = () => undefined): Behaviour =>
  (socket) => {
    socket.once('data', () => {
      socket.write(text);
      then(socket);
    });
  };
const ends: Behaviour = (socket) => socket.end();
const trickles: Behaviour = (socket) => {
  const timer = setInterval(() => socket.write('x: y\r\n'), 20);
  socket.on('close', () => clearInterval(timer));
};
/** As fast as the connection accepts it. */
const endlessly =
  (text: string): Behaviour =>
  (socket) => {
    const more = () => {
      while (socket.writable && socket.write(text));
    };
    socket.on('drain', more);
    more();
  };

const head = 'HTTP/1.1 200 OK\r\n';
const bodyOf = (bytes: number) => `${head}content-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
const redirect = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n';

const answered = (status = 200): AttemptResult => ({ answered: true, status });
const unanswered = (reason: string): AttemptResult => ({ answered: false, reason: reason as AttemptReason });
const slow = unanswered('slow');

/** Without our limits each would block its batch for a minute. */
const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['sends an endless body', say(`${head}\r\n`, endlessly('x'.repeat(65_536))), answered()],
  ['closes in its body', say(`${head}content-length: 9\r\n\r\na`, ends), answered()],
  [
    'sends endless headers',
    say(head, endlessly('x: y\r\n'.repeat(1_000))),
    unanswered('response_headers_too_large'),
  ],
  ['sends endless empty lines', say('', endlessly('\r\n'.repeat(4_096))), unanswered('response_too_large')],
  ['sends headers slowly', say(head, trickles), slow],
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
    const port = await startTls((socket) => {
      connections += 1;
      if (isReused) socket.once('data', () => socket.write(bodyOf(2), () => behaviour(socket)));
      else behaviour(socket);
    });
    const send = client();
    if (isReused) await send(port);
    const result = await send(port, expected === slow ? { limit: 300 } : {});
    // A reused connection lost before any byte of a response: the request is resent over a new one.
    const isSentAgain = isReused && misbehaviour === 'closes without a response';
    expect(result).toEqual(isSentAgain ? answered() : expected);
    expect(connections).toBe(isSentAgain ? 2 : 1);
    expect(await send(await startTls(say(bodyOf(2))))).toEqual(answered());
  });
});

it('accepts TLS 1.2, and a response with Retry-After before the request is complete', async () => {
  const busy = 'HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n';
  const port = await startTls((socket) => socket.write(busy), { maxVersion: 'TLSv1.2' });
  const result = await client()(port, { body: 'x'.repeat(20_000_000) });
  expect(result).toEqual({ answered: true, status: 503, retryAfter: '120' });
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
it.each([
  ['expired', { notBefore: inDays(-3), notAfter: inDays(-2) }, 'certificate_expired'],
  ['not yet valid', { notBefore: inDays(2), notAfter: inDays(3) }, 'certificate_not_yet_valid'],
  ["another name's", { name: 'x.example.com' }, 'certificate_wrong_name'],
  ["another authority's", undefined, 'certificate_untrusted'],
])('refuses a certificate that is %s, and sends nothing', async (_name, subject, reason) => {
  let received = 0;
  const port = await startTls(
    (socket) => socket.on('data', (data) => (received += data.length)),
    await (subject ? authority : await createAuthority()).issue({ name, ...subject }),
  );
  expect(await client()(port)).toEqual(unanswered(reason));
  expect(received).toBe(0);
});

it("trusts Mozilla's authorities, and not those of NODE_EXTRA_CA_CERTS, from TLS 1.2", async () => {
  const port = await startTls(say(head));
  const createSecureContext = jest.spyOn(tls, 'createSecureContext');
  const { post } = createReceivers({ resolve: async () => [publicAddress], route: () => '127.0.0.1' });
  const request = { webhookId: 'wh-1', url: `https://${name}:${port}/`, headers: {}, body: '' };
  expect(await post(request)).toEqual(unanswered('certificate_untrusted'));
  // Without `ca`, Node.js adds those of the variable: https://nodejs.org/docs/latest-v24.x/api/cli.html#node_extra_ca_certsfile
  const ca = [...tls.rootCertificates];
  expect(createSecureContext).toHaveBeenCalledWith(expect.objectContaining({ ca, minVersion: 'TLSv1.2' }));
  createSecureContext.mockRestore();
});

it.each([
  ['5 s to look up the name and connect', 5_000, startTcp, 'connect_timeout', {}],
  ['15 s in all', 15_000, startTls, 'timeout', {}],
  ['less, ended as slow, while it connects in the first lane', 4_900, startTcp, 'slow', { limit: 4_900 }],
  ['less, ended as slow, while it waits in the first lane', 6_000, startTls, 'slow', { limit: 6_000 }],
])('without settings, an attempt has %s', async (_, end, start, reason, lane) => {
  // The connections are real: only the lookup and the two deadlines wait for this clock.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const lookup = 4_000;
  const resolve = () => new Promise<string[]>((found) => setTimeout(found, lookup, [publicAddress]));
  let result: AttemptResult | undefined;
  const reached = new Promise((reach) => {
    const port = start((socket) => socket.once('data', reach));
    port.then((open) => client({ resolve })(open, lane)).then((attempt) => (result = attempt));
  });
  while (jest.getTimerCount() === 0) await new Promise(setImmediate);
  await jest.advanceTimersByTimeAsync(lookup);
  await reached;
  await jest.advanceTimersByTimeAsync(end - lookup - 1);
  expect(result).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(result).toEqual(unanswered(reason));
});

it('without settings, the body of a response has one second', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const port = await startTls(say(`${head}content-length: 9\r\n\r\na`));
  let result: AttemptResult | undefined;
  void client()(port).then((attempt) => (result = attempt));
  const until = async (timers: number) => {
    while (jest.getTimerCount() < timers) await new Promise(setImmediate);
  };
  // The deadlines of connection and attempt, and then that of the body.
  await until(2);
  await until(3);
  await jest.advanceTimersByTimeAsync(999);
  expect(result).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(result).toEqual(answered());
});

const kibibytes = (count: number, text = 'x') => text.repeat((count * 1_024) / text.length);
const headers = (count: number) => `${head}x: ${kibibytes(count)}\r\ncontent-length: 0\r\n\r\n`;
it.each([
  ['headers of 15 KiB', headers(15), answered()],
  ['headers of 17 KiB', headers(17), unanswered('response_headers_too_large')],
  ['255 KiB in all', kibibytes(255, '\r\n') + bodyOf(0), answered()],
  ['257 KiB in all', kibibytes(257, '\r\n') + bodyOf(0), unanswered('response_too_large')],
])('a response with %s is read, or ends the attempt', async (_, response, expected) => {
  expect(await client()(await startTls(say(response)))).toEqual(expected);
});

/** Opens that many connections: the receiver responds once all have sent a request, which it adds to `waiting`. */
async function openConnections(send: () => Promise<AttemptResult>, waiting: Socket[], count: number) {
  const opened = Promise.all(Array.from({ length: count }, send));
  await eventually(() => waiting.length === count, 20);
  for (const socket of waiting) socket.write(bodyOf(2));
  await opened;
}

it.each([
  ['loses one connection', 1],
  ['restarts', 8],
])('a receiver that %s answers all eight requests in progress', async (_, closed) => {
  const [count, behaviours] = [8, [] as ((socket: Socket) => void)[]];
  let requests = 0;
  const port = await startTls((socket) => {
    socket.on('data', () => {
      requests += 1;
      behaviours.length > 0 ? behaviours.shift()?.(socket) : socket.write(bodyOf(2));
    });
  });
  const send = client();
  const waiting: Socket[] = [];
  behaviours.push(...Array(count).fill((socket: Socket) => waiting.push(socket)));
  await openConnections(() => send(port), waiting, count);

  // The requests that stay wait for their response until the others were lost and sent again.
  const held: Socket[] = [];
  behaviours.push(...Array(count - closed).fill((socket: Socket) => held.push(socket)));
  behaviours.push(...Array(closed).fill(ends));
  const sent = Promise.all(Array.from({ length: count }, () => send(port)));
  await eventually(() => requests === 2 * count + closed, 20);
  for (const socket of held) socket.write(bodyOf(2));
  expect(await sent).toEqual(Array(count).fill(answered()));
});

it('a request is sent again on a new connection, since other idle ones may be lost, too', async () => {
  const waiting: Socket[] = [];
  let isRestarted = false;
  const port = await startTls((socket) => {
    const isLost = !isRestarted;
    socket.on('data', () => {
      if (!isRestarted) waiting.push(socket);
      else if (isLost) socket.end();
      else socket.write(bodyOf(2));
    });
  });
  const send = client();
  await openConnections(() => send(port), waiting, 2);
  isRestarted = true;
  expect(await send(port)).toEqual(answered());
});

/** A receiver that counts, and gives the same response to each request. */
async function startCounting(
  response = bodyOf(2),
  start: (behaviour: Behaviour) => Promise<number> = startTls,
) {
  const seen = { connections: 0, requests: 0, closed: 0, resumed: 0 };
  const port = await start((socket) => {
    seen.connections += 1;
    if (socket instanceof TLSSocket && socket.isSessionReused()) seen.resumed += 1;
    socket.on('data', () => {
      seen.requests += 1;
      socket.write(response);
    });
    socket.on('close', () => (seen.closed += 1));
  });
  return { port, seen };
}

it.each([
  ['reuse their connection after a 204', 'HTTP/1.1 204 No Content\r\n\r\n', 1],
  ['reuse their connection below 16 KiB', bodyOf(16 * 1_024 - 1), 1],
  ['use another connection after 16 KiB', bodyOf(16 * 1_024), 2],
  ['obey `connection: close`', `${head}connection: close\r\ncontent-length: 0\r\n\r\n`, 2],
])('deliveries of a webhook %s', async (_, response, connections) => {
  const { port, seen } = await startCounting(response);
  const send = client();
  await send(port);
  await send(port);
  // A resumed TLS session has no certificate to verify the name against.
  expect(seen).toMatchObject({ connections, requests: 2, resumed: 0 });
});

const [one, two] = [publicAddress, '93.184.216.35'];
it.each([
  ['a new connection when the name resolves to another address', [[one], [two]], 2],
  ['an existing connection to one of several addresses', Array(12).fill([one, two]), 1],
])('an attempt uses %s', async (_, resolved: string[][], connections) => {
  const { port, seen } = await startCounting();
  const answers = [...resolved];
  const send = client({ resolve: async () => answers.shift() ?? [] });
  for (const _attempt of resolved) expect(await send(port)).toEqual(answered());
  expect(seen.connections).toBe(connections);
});

it('an idle connection is closed, without settings before receivers close it after 5 s', async () => {
  const { port, seen } = await startCounting();
  const setTimeout = jest.spyOn(Socket.prototype, 'setTimeout');
  await client({})(port);
  expect(setTimeout.mock.calls.map(([milliseconds]) => milliseconds)).toContain(4_000);
  setTimeout.mockRestore();
  await client({ idleTimeout: 50 })(port);
  await eventually(() => seen.closed > 0, 20);
});

it('webhooks never share a connection; the least recently used is closed when more than 200 are open', async () => {
  const { port, seen } = await startCounting(bodyOf(2), startTcp);
  // Without TLS, which costs more than the rest.
  const { post } = createReceivers({ allowLocal: true, idleTimeout: 60_000 });
  const url = `http://127.0.0.1:${port}/in`;
  const send = (webhookId: string) => post({ webhookId, url, headers: {}, body: '{}' });
  for (let number = 0; number < 200; number++) await send(`wh-${number}`);
  await send('wh-0');
  expect(seen).toMatchObject({ closed: 0, connections: 200 });
  await send('wh-200');
  await eventually(() => seen.closed === 1, 20);
  await send('wh-0');
  expect(seen.connections).toBe(201);
  await send('wh-1');
  expect(seen.connections).toBe(202);
});

/** Never dialled when a name resolves to it, alone or beside a public address. */
const hostileAnswers = [
  '127.0.0.1 127.255.255.255 0.0.0.0',
  '10.0.0.1 172.16.0.1 172.31.255.254 192.168.0.1',
  // Metadata, credentials, and what another cloud uses for metadata.
  '169.254.169.254 169.254.170.2 100.100.100.200',
  '192.0.2.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255',
  '::1 fd00:ec2::254 fe80::1%eth0 2606:2800:220:1::1',
  '::ffff:127.0.0.1 ::ffff:93.184.216.34 64:ff9b::a00:1 2002:a00:1::',
  // No canonical addresses.
  'localhost 93.184.216.34:80 0177.0.0.1 127.1 2130706433',
];

/** Attempts a delivery. @returns its result, the names that it looked up, and the addresses that it dialled */
async function attempt(resolve: Resolve, hostname = name, connectTimeout = 5_000) {
  const lookUp = jest.fn(resolve);
  // Nothing listens at port 443 of this address.
  const route = jest.fn((_address: string) => '127.0.0.9');
  const receivers = createReceivers({ resolve: lookUp, route, connectTimeout });
  const result = await receivers.post({
    webhookId: 'wh-1',
    url: `https://${hostname}/`,
    headers: {},
    body: '',
  });
  const lookups = lookUp.mock.calls.map(([asked]) => asked);
  return { reason: result.answered ? 'answered' : result.reason, lookups, dialled: route.mock.calls.flat() };
}

it.each(hostileAnswers)('never dials a name that resolves to %s', async (hostile) => {
  const refused = { reason: 'address_not_public', lookups: [name], dialled: [] };
  for (const address of hostile.split(' '))
    for (const addresses of [[address], [address, publicAddress], [publicAddress, address]])
      expect([addresses, await attempt(async () => addresses)]).toEqual([addresses, refused]);
});

let dnsServer: Awaited<ReturnType<typeof startDnsServer>>;
beforeAll(async () => {
  dnsServer = await startDnsServer({
    'hooks.example.com': [publicAddress],
    // IPv6 only.
    'six.example.com': [],
    'broken.example.com': 'SERVFAIL',
    'silent.example.com': 'silence',
  });
});
afterAll(() => dnsServer.stop());

it.each([
  ['hooks.example.com', 'connection_refused', [publicAddress]],
  ['none.example.com', 'name_not_found', []],
  ['six.example.com', 'name_not_found', []],
  ['broken.example.com', 'name_lookup_failed', []],
  ['silent.example.com', 'connect_timeout', []],
])('looks up A records of %s once by DNS: %s, having dialled %j', async (hostname, reason, dialled) => {
  const resolve: Resolve = (asked, signal) => resolveByDns(asked, signal, [dnsServer.address]);
  const limit = reason === 'connect_timeout' ? 300 : undefined;
  expect(await attempt(resolve, hostname, limit)).toEqual({ reason, lookups: [hostname], dialled });
  expect(new Set(dnsServer.questions.splice(0))).toEqual(new Set([`1 ${hostname}`]));
});
