import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Server, Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import tls, { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';
import type { AttemptReason } from '../../../domain/delivery';
import {
  createReceivers,
  type ReceiverSettings,
  resolveByDns,
} from '../../../lambda/deliver-webhook/receivers';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { createAuthority, type TestAuthority } from '../../support/certificates';
import { eventually } from '../../support/eventually';

const name = 'hooks.example.com';
const publicAddress = '93.184.216.34';
const [first, second, third] = [publicAddress, '93.184.216.35', '93.184.216.36'];
let authority: TestAuthority;
let certificate: { readonly key: string; readonly cert: string };
const servers: Server[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue({ name });
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

type Behaviour = (socket: Socket) => void;

async function listen(server: Server, address = '127.0.0.1'): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return (server.address() as AddressInfo).port;
}
const startTcp = (behaviour: Behaviour) => listen(createTcpServer(behaviour));
const createTls = (behaviour: Behaviour, options: TlsOptions = {}) =>
  createTlsServer({ noDelay: true, ...certificate, ...options }, (socket) => {
    socket.on('error', () => undefined);
    behaviour(socket);
  }).on('tlsClientError', () => undefined);
const startTls = (...made: Parameters<typeof createTls>) => listen(createTls(...made));

/** @param settings @default - none ends a connection because it is idle */
function client(settings: ReceiverSettings = { idleTimeout: 20_000 }) {
  const receivers = createReceivers({
    certificateAuthorities: [authority.cert],
    resolve: async () => [publicAddress],
    route: () => '127.0.0.1',
    ...settings,
  });
  return (port: number, change: { body?: string; limit?: number } = {}) => {
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

/** Every timer with its length. A receiver ends those that run, in whatever time: at a high load, clocks show nothing. */
let timers: (NodeJS.Timeout & { readonly length: number; run(): void; _destroyed?: boolean })[];
function end(length: number, started = timers): void {
  const running = started.filter((each) => each.length === length && !each._destroyed);
  for (const timer of running) timer.run();
}
const expire =
  (length: number): Behaviour =>
  (socket) => {
    const started = timers;
    const timer = setInterval(() => end(length, started), 20);
    // Without reading, it would not see the end.
    socket.resume().on('close', () => clearInterval(timer));
  };
const { setTimeout: startTimer } = globalThis;
beforeEach(() => {
  timers = [];
  const start = (run: () => void, length: number) => {
    const timer = Object.assign(startTimer(run, length), { length, run });
    timers.push(timer);
    return timer;
  };
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(start as never);
});
afterEach(() => jest.restoreAllMocks());
const slowly = 9_999;
/** Goes on for as long as the connection does: the limit ends while it does. */
const trickles: Behaviour = (socket) => {
  let lines = 0;
  const timer = setInterval(() => (++lines === 3 ? expire(slowly)(socket) : socket.write('x: y\r\n')), 20);
  socket.on('close', () => clearInterval(timer));
};

const head = 'HTTP/1.1 200 OK\r\n';
const headers = (kibibytes: number) =>
  `${head}content-length: 0\r\nx: ${'x'.repeat(kibibytes * 1_024)}\r\n\r\n`;
const bodyOf = (bytes: number) => `${head}content-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
const continues = 'HTTP/1.1 100 Continue\r\n\r\n';
const redirect = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n';

const answered = (status = 200) => ({ answered: true, status }) as const;
const unanswered = (reason: string): AttemptResult => ({ answered: false, reason: reason as AttemptReason });
const slow = unanswered('slow');

const lines = (...text: string[]) => `${text.join('\r\n')}\r\n\r\n`;
const busy = lines('HTTP/1.1 503 Busy', 'Retry-After : 120 ', 'content-length: 2', 'content-length: 2');

/** Without our limits each would block its batch, and without reading its status be sent again. */
const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['sends a body without an end', say(`${head}\r\n${'x'.repeat(500_000)}`), answered()],
  ['sends 257 KiB of empty lines', say('\r\n'.repeat(257 * 512)), unanswered('response_too_large')],
  ['switches the protocol', say(upgrade), unanswered('protocol_switched')],
  ['redirects to a private address', say(redirect, ends), answered(302)],
  ['speaks another protocol', say('220 mail.example.com ESMTP\r\n', ends), unanswered('response_malformed')],
  ['sends no status', say(lines('HTTP/1.1 OK'), ends), unanswered('response_malformed')],
  ['closes without a response', say('', ends), unanswered('connection_closed')],
  // The receiver may have acted: nothing is sent again.
  ['closes after a byte of its response', say('H', ends), unanswered('connection_closed')],
  // As a server that closes an idle connection, also one that is in use again.
  ['answers 408, and closes', say(lines('HTTP/1.1 408 Timeout', 'connection: close'), ends), answered(408)],
  ['slowly continues', say(continues, expire(slowly)), slow],
  // A complete status line counts, whatever follows.
  ['closes after its status line', say(head, ends), answered()],
  ['slowly sends headers', say(head, trickles), answered()],
  ['sends 17 KiB of headers after another response', say(continues + headers(17)), answered()],
  ['ends its lines with a line feed alone', say('HTTP/1.1 200 OK\ncontent-length: 0\n\n'), answered()],
  ['sends a version that does not exist', say(lines('HTTP/2 200', 'content-length: 0')), answered()],
  ['continues, then sends an untidy head', say(continues + busy), { ...answered(503), retryAfter: '120' }],
];

describe.each(['new', 'reused'])('over a %s connection, a receiver that', (connection) => {
  const isReused = connection === 'reused';

  it.each(misbehaviours)('%s fails only its own attempt', async (misbehaviour, behaviour, expected) => {
    const closed: Promise<void>[] = [];
    const port = await startTls((socket) => {
      closed.push(new Promise((resolve) => socket.on('close', () => resolve())));
      if (isReused) socket.once('data', () => socket.write(bodyOf(2), () => behaviour(socket)));
      else behaviour(socket);
    });
    const send = client();
    if (isReused) await send(port);
    const result = await send(port, misbehaviour.startsWith('slowly') ? { limit: slowly } : {});
    // A reused connection lost before any byte of another response: the request is resent over a new one.
    const isSentAgain = isReused && /^closes without|408/.test(misbehaviour);
    expect(result).toMatchObject(isSentAgain ? answered() : expected);
    expect(closed).toHaveLength(isSentAgain ? 2 : 1);
    const answeredAt = performance.now();
    await closed[0];
    // Not only because it was idle.
    expect(performance.now() - answeredAt).toBeLessThan(10_000);
    expect(await send(await startTls(say(bodyOf(2))))).toEqual(answered());
  });
});

it('accepts TLS 1.2, headers of 15 KiB, 255 KiB in all, and a response before the request is complete', async () => {
  const response = '\r\n'.repeat(239 * 512) + headers(15).replace('x:', 'retry-after: 120\r\nx:');
  const port = await startTls((socket) => socket.write(response), { maxVersion: 'TLSv1.2' });
  const result = await client()(port, { body: 'x'.repeat(20_000_000) });
  expect(result).toEqual({ answered: true, status: 200, retryAfter: '120' });
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const validFrom = (days: number) =>
  authority.issue({ name, notBefore: inDays(days), notAfter: inDays(days + 1) });
const foreign = async () => (await createAuthority()).issue({ name });
it.each<[reason: string, detail: RegExp, options: () => Promise<TlsOptions>]>([
  ['certificate_expired', /^certificate has expired$/, () => validFrom(-3)],
  ['certificate_not_yet_valid', /not yet valid/, () => validFrom(2)],
  ['certificate_wrong_name', /DNS:x\.example\.com/, () => authority.issue({ name: 'x.example.com' })],
  ['certificate_untrusted', /^certificate signature failure$/, foreign],
  // Before the certificate, which it is no fault of.
  ['tls_failed', /handshake failure/, async () => ({ ciphers: 'TLS_AES_128_CCM_SHA256' })],
])('refuses with %s, and sends nothing', async (reason, detail, options) => {
  const receive = jest.fn();
  const port = await startTls((socket) => socket.on('data', receive), await options());
  expect(await client()(port)).toEqual({ ...unanswered(reason), detail: expect.stringMatching(detail) });
  expect(receive).not.toHaveBeenCalled();
});

it("trusts Mozilla's authorities, and not those of NODE_EXTRA_CA_CERTS, from TLS 1.2; a connection may be idle for 4 s", async () => {
  const port = await startTls(say(head));
  const createSecureContext = jest.spyOn(tls, 'createSecureContext');
  const limitIdle = jest.spyOn(Socket.prototype, 'setTimeout');
  const { post } = createReceivers({ resolve: async () => [publicAddress], route: () => '127.0.0.1' });
  const request = { webhookId: 'wh-1', url: `https://${name}:${port}/`, headers: {}, body: '' };
  expect(await post(request)).toMatchObject(unanswered('certificate_untrusted'));
  // Without `ca`, Node.js adds those of the variable: https://nodejs.org/docs/latest-v24.x/api/cli.html#node_extra_ca_certsfile
  const ca = [...tls.rootCertificates];
  expect(createSecureContext).toHaveBeenCalledWith(expect.objectContaining({ ca, minVersion: 'TLSv1.2' }));
  expect(limitIdle).toHaveBeenCalledWith(4_000);
});

const silent = (limit: number) => startTcp(expire(limit));
const answers = (text: string) => (limit: number) => startTls(say(text, expire(limit)));
it.each([
  ['5 s to connect', silent, 5_000, undefined, unanswered('connect_timeout')],
  ['15 s in all', answers(''), 15_000, undefined, unanswered('timeout')],
  ['1 s for the body', answers(`${head}\r\nx`), 1_000, undefined, answered()],
  ['less in the delivery queue while it connects', silent, 2_000, 2_000, slow],
  ['less in the delivery queue while it waits', answers(''), 2_000, 2_000, slow],
])('an attempt has %s', async (_, start, expires, limit, expected) => {
  expect(await client()(await start(expires), limit === undefined ? {} : { limit })).toEqual(expected);
});

/** A receiver that counts. `respond` to a request of a connection, each numbered from one. */
async function startCounting(
  respond: (socket: Socket, request: number, connection: number) => unknown = (socket) =>
    socket.write(bodyOf(2)),
  start: typeof startTcp = startTls,
) {
  const seen = { connections: 0, requests: 0, closed: 0, resumed: 0 };
  const port = await start((socket) => {
    const connection = ++seen.connections;
    let requests = 0;
    if (socket instanceof TLSSocket && socket.isSessionReused()) seen.resumed += 1;
    socket.on('data', () => {
      seen.requests += 1;
      respond(socket, ++requests, connection);
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
  const { port, seen } = await startCounting((socket) => socket.write(response));
  const send = client();
  await send(port);
  await send(port);
  // A resumed TLS session has no certificate to verify the name against.
  expect(seen).toMatchObject({ connections, requests: 2, resumed: 0 });
});

it('an attempt uses an existing connection to one of several addresses, and a new one when the name moves', async () => {
  const { port, seen } = await startCounting();
  const answers = [...Array(5).fill([first, second]), [third]];
  const send = client({ resolve: async () => answers.shift() });
  for (const connections of [...Array(5).fill(1), 2]) {
    expect(await send(port)).toEqual(answered());
    expect(seen.connections).toBe(connections);
  }
});

/** A receiver with several addresses, one of which may refuse. Counts the connections to each. */
function several(addresses: readonly string[], refuses?: string) {
  const tried: string[] = [];
  const send = client({
    resolve: async () => addresses,
    // Nothing listens on this port of the IPv6 loopback, or there is none.
    route: (address) => {
      tried.push(address);
      return address === refuses ? '::1' : '127.0.0.1';
    },
  });
  return { send, tried };
}

it('after a response that is not 2xx, an attempt prefers another connection and another address', async () => {
  const refusal = lines('HTTP/1.1 503 Busy', 'content-length: 0');
  let isDown = false;
  const { port } = await startCounting((socket, _, connection) =>
    socket.write(isDown || connection === 1 ? refusal : bodyOf(2)),
  );
  const { send, tried } = several([first, second]);
  expect(await send(port)).toEqual(answered(503));
  for (let number = 0; number < 10; number++) expect(await send(port)).toEqual(answered());
  expect([...tried].sort()).toEqual([first, second]);
  // Where every address fails, they take turns.
  isDown = true;
  for (let number = 0; number < 5; number++) await send(port);
  const [busy, other] = tried;
  expect(tried.slice(2)).toEqual([busy, other, busy, other]);
});

/** Accepts connections, and is silent on some: returns for how long, by their number from one. The others have one request. */
function startSilent(silenceOf: (connection: number, socket: Socket) => number, respond: Behaviour) {
  let connections = 0;
  const secure = createTls(respond);
  return startTcp((socket) => {
    const silence = silenceOf(++connections, socket);
    if (silence > 0) expire(silence)(socket);
    else secure.emit('connection', socket);
  });
}

it('of several addresses, an attempt passes those that refuse at once, and one that is silent after a time', async () => {
  const refusing = await startTls(say(bodyOf(2), ends));
  for (let number = 0; number < 5; number++) {
    const { send, tried } = several([first, second], first);
    for (let attempt = 0; attempt < 2; attempt++) expect(await send(refusing)).toEqual(answered());
    // The second attempt knows.
    expect(tried.filter((address) => address === first).length).toBeLessThanOrEqual(1);
  }
  let closed: Promise<unknown> | undefined;
  const silence = (connection: number, socket: Socket) => {
    if (connection === 1) closed = once(socket, 'close');
    return connection === 1 ? 1_500 : 0;
  };
  const port = await startSilent(silence, say(bodyOf(2), ends));
  const { send, tried } = several([first, second, third]);
  expect(await send(port)).toEqual(answered());
  await closed;
  await send(port);
  // The silent one comes last: its place is first of all, and not again.
  expect(tried.filter((address) => address === tried[0])).toHaveLength(1);
});

it('an attempt tries at most eight addresses, and one that ran out of time begins with others the next time', async () => {
  const addresses = Array.from({ length: 300 }, (_, index) => `93.184.${index >> 8}.${index & 255}`);
  // Nothing listens there.
  const refused = several(addresses);
  expect(await refused.send(1_024)).toEqual(unanswered('connection_refused'));
  expect(new Set(refused.tried).size).toBe(8);
  expect(refused.tried).toHaveLength(8);
  let connections = 0;
  const port = await startTcp(() => end(++connections % 4 === 0 ? 5_000 : 1_500));
  const { send, tried } = several(addresses.slice(0, 6));
  for (let number = 0; number < 2; number++) expect(await send(port)).toEqual(unanswered('connect_timeout'));
  expect(new Set([...tried.slice(0, 3), ...tried.slice(4, 7)]).size).toBe(6);
});

it.each<[what: string, (socket: Socket) => unknown]>([
  ['an unasked 408', (socket) => socket.write('HTTP/1.1 408 Timeout\r\nconnection: close\r\n\r\n')],
  ['a response more', (socket) => socket.write(bodyOf(2))],
  ['an empty line', (socket) => socket.write('\r\n')],
  ['the end of the stream', (socket) => Object.assign(socket, { allowHalfOpen: true }).end()],
])('closes an idle connection on which arrives %s, even right before its use', async (_, unasked) => {
  for (const isLate of [false, true]) {
    const open: Socket[] = [];
    const { port } = await startCounting((socket, _, connection) => {
      open.push(socket);
      socket.write(bodyOf(2).replace('200', String(200 + connection)));
    });
    // Sent, and not yet read, when the connection would be used.
    const resolve = async () => {
      if (isLate) open.map(unasked);
      return [publicAddress];
    };
    const send = client({ idleTimeout: 20_000, resolve });
    expect(await send(port)).toEqual(answered(201));
    const closed = open.map((socket) => new Promise((resolve) => socket.on('close', resolve)));
    if (!isLate) await Promise.all([open.map(unasked), ...closed]);
    expect(await send(port)).toEqual(answered(202));
  }
});

it('a receiver that answers twice gets one wrong status at most: its connections are not used again', async () => {
  const { port } = await startCounting((socket, request) => {
    // On a connection's second request, a 200 that the first one has not had.
    if (request > 1) socket.write(bodyOf(2));
    setTimeout(() => socket.write(bodyOf(2).replace('200', '202')), request > 1 ? 50 : 0);
  });
  const send = client();
  const statuses: unknown[] = [];
  for (let number = 0; number < 6; number++) {
    const result = await send(port);
    statuses.push(result.answered && result.status);
    if (number === 1) await sleep(100);
  }
  expect(statuses).toEqual([202, 200, 202, 202, 202, 202]);
});

it('a connection that is used again is not idle, however long its receiver takes', async () => {
  const limited = jest.spyOn(Socket.prototype, 'setTimeout');
  const { port, seen } = await startCounting((socket, request) => {
    if (request > 1) for (const each of limited.mock.contexts as Socket[]) each.emit('timeout');
    socket.write(bodyOf(2));
  });
  const send = client();
  expect([await send(port), await send(port), seen.connections]).toEqual([answered(), answered(), 1]);
});

it('has limited time to connect again, too, after a lost connection', async () => {
  const respond = say(bodyOf(2), (socket) => socket.once('data', () => socket.destroy()));
  const send = client();
  const port = await startSilent((connection) => (connection === 1 ? 0 : 5_000), respond);
  expect([await send(port), await send(port)]).toEqual([answered(), unanswered('connect_timeout')]);
});

it('webhooks never share a connection; the least recently used is closed when more than 200 are open', async () => {
  const { port, seen } = await startCounting(undefined, startTcp);
  // Without TLS, which costs more than the rest.
  const { post } = createReceivers({ allowLocal: true, idleTimeout: 60_000 });
  const url = `http://127.0.0.1:${port}/in`;
  const send = (number: number) => post({ webhookId: `wh-${number}`, url, headers: {}, body: '{}' });
  for (let number = 0; number < 200; number++) await send(number);
  await send(0);
  expect(seen).toMatchObject({ closed: 0, connections: 200 });
  await send(200);
  await eventually(() => seen.closed === 1);
  await send(0);
  expect(seen.connections).toBe(201);
});

it('a local receiver on localhost may have IPv6 alone', async () => {
  const isHere = Object.values(networkInterfaces()).flat();
  const address = isHere.some((each) => each?.address === '::1') ? '::1' : '127.0.0.1';
  const from: unknown[] = [];
  const server = createTcpServer((socket) => {
    from.push(socket.remoteAddress);
    say(lines('HTTP/1.1 204 No Content', 'connection: close'), ends)(socket);
  });
  // Both addresses, so that nobody else has the other one.
  const port = await listen(server, address === '::1' ? '::' : address);
  const { post } = createReceivers({ allowLocal: true });
  const send = () => post({ webhookId: 'wh-1', url: `http://localhost:${port}/`, headers: {}, body: '{}' });
  expect(await send()).toMatchObject({ answered: true, status: 204 });
  expect(from).toEqual([address]);
  await new Promise((closed) => server.close(closed));
  expect(await send()).toEqual(unanswered('connection_refused'));
});

// None of them is dialled when a name resolves to it, alone or beside a public address.
it.each([
  '127.0.0.1 0.0.0.0 10.0.0.1 172.31.255.254 192.168.0.1',
  // Metadata, credentials, and what another cloud uses for metadata.
  '169.254.169.254 169.254.170.2 100.100.100.200',
  '192.0.2.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255',
  '::1 fd00:ec2::254 2606:2800:220:1::1 ::ffff:93.184.216.34 64:ff9b::a00:1',
  // No canonical addresses.
  'localhost 93.184.216.34:80 0177.0.0.1 127.1 2130706433',
])('never dials a name that resolves to %s', async (hostile) => {
  const route = jest.fn(() => '127.0.0.1');
  for (const address of hostile.split(' '))
    for (const addresses of [[address], [address, publicAddress], [publicAddress, address]]) {
      const result = await client({ resolve: async () => addresses, route })(1_024);
      expect([addresses, result]).toEqual([addresses, unanswered('address_not_public')]);
    }
  expect(route).not.toHaveBeenCalled();
});

// A pointer to the name, type A, class IN, time to live 0, length, address: https://www.rfc-editor.org/rfc/rfc1035#section-4.1
const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...publicAddress.split('.').map(Number)];
it.each([
  ['an address', 0, record, answered()],
  ['no address, such as IPv6 only', 0, [], unanswered('no_ipv4_address')],
  ['that there is no such name', 3, [], unanswered('name_not_found')],
  ['its failure', 2, [], unanswered('name_lookup_failed')],
  ['nothing', undefined, [], unanswered('connect_timeout')],
])('asks the DNS server for A records once, which answers %s', async (_, code, answer, expected) => {
  const types = new Set<number>();
  const server = createSocket('udp4').on('message', (query, { port, address }) => {
    const question = query.subarray(12, 12 + name.length + 6);
    types.add(question.readUInt16BE(name.length + 2));
    if (code === undefined) return end(5_000);
    const counts = [0, 1, 0, answer.length && 1, 0, 0, 0, 0];
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80 | code, ...counts]);
    server.send(Buffer.concat([head, question, Buffer.from(answer)]), port, address);
  });
  await once(server.bind(0, '127.0.0.1'), 'listening');
  const servers = [`127.0.0.1:${server.address().port}`];
  const send = client({ resolve: (asked, signal) => resolveByDns(asked, signal, servers) });
  expect(await send(await startTls(say(bodyOf(2))))).toEqual(expected);
  expect([...types]).toEqual([1]);
  server.close();
});
