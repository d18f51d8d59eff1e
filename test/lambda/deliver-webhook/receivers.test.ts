import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Server, Socket } from 'node:net';
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
let authority: TestAuthority;
let certificate: { readonly key: string; readonly cert: string };
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue({ name });
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
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

/** @param settings @default - so long for each that other limits end an attempt */
function client(
  settings: ReceiverSettings = { connectTimeout: 20_000, timeout: 20_000, idleTimeout: 20_000 },
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

const head = 'HTTP/1.1 200 OK\r\n';
const headers = (kibibytes: number) => `${head}x: ${'x'.repeat(kibibytes * 1_024)}\r\n\r\n`;
const bodyOf = (bytes: number) => `${head}content-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
const redirect = 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n';

const answered = (status = 200): AttemptResult => ({ answered: true, status });
const unanswered = (reason: string): AttemptResult => ({ answered: false, reason: reason as AttemptReason });
const slow = unanswered('slow');

/** Without our limits each would block its batch. */
const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['sends a body without an end', say(`${head}\r\n${'x'.repeat(500_000)}`), answered()],
  ['closes in its body', say(`${head}content-length: 9\r\n\r\na`, ends), answered()],
  ['sends 17 KiB of headers', say(headers(17)), unanswered('response_headers_too_large')],
  ['sends 257 KiB of empty lines', say('\r\n'.repeat(257 * 512)), unanswered('response_too_large')],
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

it('accepts TLS 1.2, headers of 15 KiB, 255 KiB in all, and a response before the request is complete', async () => {
  const busy = headers(15).replace('x:', 'retry-after: 120\r\ncontent-length: 0\r\nx:');
  const response = '\r\n'.repeat(239 * 512) + busy;
  const port = await startTls((socket) => socket.write(response), { maxVersion: 'TLSv1.2' });
  const result = await client()(port, { body: 'x'.repeat(20_000_000) });
  expect(result).toEqual({ answered: true, status: 200, retryAfter: '120' });
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
  ['time to connect', startTcp, { connectTimeout: 300 }, {}, unanswered('connect_timeout')],
  ['time in all', startTls, { timeout: 300 }, {}, unanswered('timeout')],
  ['less, ended as slow, while it connects in the first lane', startTcp, {}, { limit: 300 }, slow],
  ['less, ended as slow, while it waits in the first lane', startTls, {}, { limit: 300 }, slow],
])('an attempt has limited %s', async (_, start, settings, lane, expected) => {
  expect(await client(settings)(await start(() => undefined), lane)).toEqual(expected);
});

it('without settings, an attempt has 5 s to connect, 15 s in all, 1 s for the body; a connection may be idle for 4 s', async () => {
  const spies = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(Socket.prototype, 'setTimeout')];
  const port = await startTls(say(`${head}content-length: 9\r\n\r\na`));
  expect(await client({})(port)).toEqual(answered());
  const limits = spies.flatMap(({ mock }) => mock.calls.flat());
  // Receivers close idle ones after 5 s.
  expect(limits).toEqual(expect.arrayContaining([5_000, 15_000, 1_000, 4_000]));
  for (const spy of spies) spy.mockRestore();
});

it.each([
  ['loses one of eight connections answers all requests in progress', 1, 8],
  ['restarts answers all requests in progress', 8, 8],
  ['restarted meanwhile gets the request over a new connection, not over another lost one', 8, 1],
])('a receiver that %s', async (_, lost, count) => {
  let [connections, requests] = [0, 0];
  const waiting: Socket[] = [];
  const port = await startTls((socket) => {
    connections += 1;
    const number = connections;
    socket.on('data', () => {
      requests += 1;
      if (number > 8) socket.write(bodyOf(2));
      else if (requests > 8 && number <= lost) socket.end();
      else waiting.push(socket);
    });
  });
  const send = client();
  const sendAtOnce = async (requestsInProgress: number, expected: number) => {
    const sent = Promise.all(Array.from({ length: requestsInProgress }, () => send(port)));
    await eventually(() => requests === expected, 20);
    for (const socket of waiting.splice(0)) socket.write(bodyOf(2));
    expect(await sent).toEqual(Array(requestsInProgress).fill(answered()));
  };
  await sendAtOnce(8, 8);
  // Those that stay wait for their response until the others were lost and sent again.
  await sendAtOnce(count, 8 + count + Math.min(lost, count));
});

/** A receiver that counts, and gives the same response to each request. */
async function startCounting(response = bodyOf(2), start: typeof startTcp = startTls) {
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

it('an attempt uses an existing connection to one of several addresses, and a new one when the name moves', async () => {
  const { port, seen } = await startCounting();
  const answers = [...Array(12).fill([publicAddress, '93.184.216.35']), ['93.184.216.36']];
  const send = client({ resolve: async () => answers.shift() });
  for (const connections of [...Array(12).fill(1), 2]) {
    expect(await send(port)).toEqual(answered());
    expect(seen.connections).toBe(connections);
  }
});

it('webhooks never share a connection; the least recently used is closed when more than 200 are open', async () => {
  const { port, seen } = await startCounting(bodyOf(2), startTcp);
  // Without TLS, which costs more than the rest.
  const { post } = createReceivers({ allowLocal: true, idleTimeout: 60_000 });
  const url = `http://127.0.0.1:${port}/in`;
  const send = (number: number) => post({ webhookId: `wh-${number}`, url, headers: {}, body: '{}' });
  for (let number = 0; number < 200; number++) await send(number);
  await send(0);
  expect(seen).toMatchObject({ closed: 0, connections: 200 });
  await send(200);
  await eventually(() => seen.closed === 1, 20);
  await send(0);
  expect(seen.connections).toBe(201);
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

it.each(hostileAnswers)('never dials a name that resolves to %s', async (hostile) => {
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
  ['no address, such as IPv6 only', 0, [], unanswered('name_not_found')],
  ['that there is no such name', 3, [], unanswered('name_not_found')],
  ['its failure', 2, [], unanswered('name_lookup_failed')],
  ['nothing', undefined, [], unanswered('connect_timeout')],
])('asks the DNS server for A records once, which answers %s', async (_, code, answer, expected) => {
  const types = new Set<number>();
  const server = createSocket('udp4').on('message', (query, { port, address }) => {
    const question = query.subarray(12, 12 + name.length + 6);
    types.add(question.readUInt16BE(name.length + 2));
    if (code === undefined) return;
    const counts = [0, 1, 0, answer.length && 1, 0, 0, 0, 0];
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80 | code, ...counts]);
    server.send(Buffer.concat([head, question, Buffer.from(answer)]), port, address);
  });
  await once(server.bind(0, '127.0.0.1'), 'listening');
  const servers = [`127.0.0.1:${server.address().port}`];
  const send = client({
    resolve: (asked, signal) => resolveByDns(asked, signal, servers),
    ...(code === undefined && { connectTimeout: 300 }),
  });
  expect(await send(await startTls(say(bodyOf(2))))).toEqual(expected);
  expect([...types]).toEqual([1]);
  server.close();
});
