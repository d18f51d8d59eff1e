import type { AddressInfo } from 'node:net';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { AttemptResult } from '../../../lambda/deliver-webhook/next-step';
import { createReceivers, type ReceiverSettings } from '../../../lambda/deliver-webhook/receivers';
import { createAuthority, type TestAuthority } from '../../support/certificates';

const name = 'hooks.example.com';
/** Milliseconds: long enough for a busy machine, and the receivers are attempted side by side. */
const connectTimeout = 1_500;
const timeout = 2_500;
const slack = 1_500;

let authority: TestAuthority;
let good: { key: string; cert: string };
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeAll(async () => {
  authority = await createAuthority();
  good = await authority.issue({ name });
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

type Behaviour = (socket: Socket) => void;

/** A receiver that does what it is told from the connection on; the port that it listens at. */
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

const tlsReceiver = (behaviour: Behaviour, certificate = good) => {
  const server = createTlsServer(certificate, (socket) => {
    socket.on('error', () => undefined);
    behaviour(socket);
  });
  server.on('tlsClientError', () => undefined);
  return listen(server);
};
const tcpReceiver = (behaviour: Behaviour) => listen(createTcpServer(behaviour));

/** @param times @default - short ones */
async function post(
  port: number,
  body = '{}',
  times: ReceiverSettings = { connectTimeout, timeout },
): Promise<AttemptResult> {
  const receivers = createReceivers({
    ...times,
    certificateAuthorities: [authority.cert],
    resolve: async () => ['93.184.216.34'],
    route: (target) => ({ ...target, address: '127.0.0.1' }),
  });
  return receivers.post(`https://${name}:${port}/in`, {}, body);
}

/** Says so much at once, once the request has begun to arrive. */
const say = (text: string | Buffer, then: Behaviour = () => undefined): Behaviour => {
  return (socket) => {
    socket.once('data', () => {
      socket.write(text);
      then(socket);
    });
  };
};
const ends: Behaviour = (socket) => socket.end();
const often =
  (text: string | Buffer, everyMs: number): Behaviour =>
  (socket) => {
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
/** As fast as the connection takes it. */
const endlessly =
  (text: string | Buffer): Behaviour =>
  (socket) => {
    const more = () => {
      while (socket.writable && socket.write(text));
    };
    socket.on('drain', more);
    more();
  };

const head = 'HTTP/1.1 200 OK\r\n';
const manyHeaders = (count: number) =>
  Array.from({ length: count }, (_, index) => `x-${index}: value\r\n`).join('');
const answered = (status = 200): AttemptResult => ({ answered: true, status });
const unanswered = (reason: string): AttemptResult => ({ answered: false, reason });
const bomb = gzipSync(Buffer.alloc(50_000_000));

const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['answers as it should', say(`${head}content-length: 2\r\n\r\nok`), answered()],
  ['sends an endless body', say(`${head}\r\n`, endlessly(Buffer.alloc(65_536))), answered()],
  ['sends its body one byte at a time', say(`${head}\r\n`, often('a', 20)), answered()],
  [
    'sends a compressed bomb',
    say(`${head}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`, (socket) =>
      socket.write(bomb),
    ),
    answered(),
  ],
  ['sends a hundred headers', say(`${head}${manyHeaders(100)}\r\n`, ends), answered()],
  ['sends endless headers', say(head, endlessly('x: y\r\n')), unanswered('response_headers_too_large')],
  [
    'sends endless empty lines before its answer',
    say('', endlessly('\r\n'.repeat(4_096))),
    unanswered('response_too_large'),
  ],
  ['sends headers slowly', say(head, often('x: y\r\n', 20)), unanswered('timeout')],
  ['sends its status one byte at a time', say('H', often('T', 50)), unanswered('response_malformed')],
  ['never answers', () => undefined, unanswered('timeout')],
  [
    'floods with interim answers',
    say('', endlessly('HTTP/1.1 102 Processing\r\n\r\n')),
    unanswered('too_many_interim_answers'),
  ],
  [
    'switches the protocol',
    say('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    unanswered('protocol_switched'),
  ],
  ['redirects inside', say('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n', ends), answered(302)],
  ['speaks something else', say('220 mail.example.com ESMTP\r\n', ends), unanswered('response_malformed')],
  ['closes without an answer', say('', ends), unanswered('connection_closed')],
];

describe('a receiver is an attempt of bounded time, and the next delivery is unharmed, when it', () => {
  interface Run {
    readonly result: AttemptResult;
    readonly durationMs: number;
    readonly next: AttemptResult;
  }
  const runs = new Map<string, Promise<Run>>();

  async function run(behaviour: Behaviour): Promise<Run> {
    const port = await tlsReceiver(behaviour);
    const begin = performance.now();
    const result = await post(port);
    const durationMs = performance.now() - begin;
    const healthy = await tlsReceiver(say(`${head}content-length: 0\r\n\r\n`));
    return { result, durationMs, next: await post(healthy) };
  }

  beforeAll(async () => {
    for (const [misbehaviour, behaviour] of misbehaviours) runs.set(misbehaviour, run(behaviour));
    await Promise.allSettled(runs.values());
  });

  it.each(misbehaviours)('%s', async (misbehaviour, _behaviour, expected) => {
    const { result, durationMs, next } = (await runs.get(misbehaviour)) as Run;
    expect(result).toEqual(expected);
    expect(durationMs).toBeLessThan(timeout + slack);
    expect(next).toEqual(answered());
  });
});

describe('a receiver whose connection is reset', () => {
  /** Says the text, then resets. A TLS socket has no reset of its own: a relay in front of the receiver makes one. */
  const resettingReceiver = async (text: string) => {
    let front: Socket | undefined;
    const port = await tlsReceiver(say(text, () => setTimeout(() => front?.resetAndDestroy(), 100)));
    return tcpReceiver((socket) => {
      front = socket;
      const back = connect(port, '127.0.0.1');
      front.pipe(back).pipe(front);
      front.on('close', () => back.destroy());
    });
  };

  it.each<readonly [string, string, AttemptResult]>([
    ['without an answer', '', unanswered('connection_reset')],
    ['in its headers', `${head}x: `, unanswered('connection_reset')],
    ['in its body, which takes nothing from its status', `${head}content-length: 9\r\n\r\na`, answered()],
  ])('%s', async (_moment, text, expected) => {
    expect(await post(await resettingReceiver(text))).toEqual(expected);
  });
});

it('takes the answer of a receiver that answers before the request ends', async () => {
  const port = await tlsReceiver((socket) => socket.write(`${head}content-length: 0\r\n\r\n`));
  expect(await post(port, 'x'.repeat(60_000))).toEqual(answered());
});

it.each([
  ['promised', `${head}content-length: 10\r\n\r\n`],
  ['chunked', `${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`],
])('does not wait for the end of a %s body: the status is the answer', async (_, text) => {
  const port = await tlsReceiver(say(text));
  const begin = performance.now();
  expect(await post(port)).toEqual(answered());
  expect(performance.now() - begin).toBeLessThan(timeout);
});

it('reads Retry-After', async () => {
  const port = await tlsReceiver(say('HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n'));
  expect(await post(port)).toEqual({ answered: true, status: 503, retryAfter: '120' });
});

it('closes every connection, whatever the receiver did', async () => {
  const port = await tlsReceiver(say(`${head}\r\n`, often('a', 20)));
  await post(port);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([...sockets].filter(({ localPort }) => localPort === port)).toEqual([]);
});

it('takes a bounded part of an endless answer', async () => {
  let sent = 0;
  const port = await tlsReceiver(
    say(`${head}\r\n`, (socket) => {
      const more = () => {
        while (socket.writable && !socket.destroyed) {
          sent += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return;
        }
      };
      socket.on('drain', more);
      more();
    }),
  );
  await post(port);
  // What the kernel's buffers on both sides hold was sent, and is dropped.
  expect(sent).toBeLessThan(16_000_000);
});

describe('the handshake', () => {
  const day = 86_400_000;
  const inDays = (days: number) => new Date(Date.now() + days * day);

  it.each<readonly [string, () => Promise<{ key: string; cert: string }>, string]>([
    [
      'expired',
      () => authority.issue({ name, notBefore: inDays(-3), notAfter: inDays(-2) }),
      'certificate_expired',
    ],
    [
      'not yet valid',
      () => authority.issue({ name, notBefore: inDays(2), notAfter: inDays(3) }),
      'certificate_not_yet_valid',
    ],
    ["another name's", () => authority.issue({ name: 'other.example.com' }), 'certificate_wrong_name'],
    ["another authority's", async () => (await createAuthority()).issue({ name }), 'certificate_untrusted'],
  ])('refuses a certificate that is %s, and sends nothing', async (_name, certificate, reason) => {
    let received = 0;
    const port = await tlsReceiver(
      (socket) => socket.on('data', (data) => (received += data.length)),
      await certificate(),
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
    ['sends noise without end', endlessly(Buffer.alloc(65_536, 7)), 'tls_failed'],
  ])('of a receiver that %s ends in bounded time', async (_name, behaviour, reason) => {
    const port = await tcpReceiver(behaviour);
    const begin = performance.now();
    expect(await post(port)).toEqual(unanswered(reason));
    expect(performance.now() - begin).toBeLessThan(connectTimeout + slack);
  });

  it('trusts the public authorities alone, whatever else the process trusts', async () => {
    const port = await tlsReceiver(say(head));
    const receivers = createReceivers({
      resolve: async () => ['93.184.216.34'],
      route: (target) => ({ ...target, address: '127.0.0.1' }),
    });
    expect(await receivers.post(`https://${name}:${port}/`, {}, '')).toEqual(
      unanswered('certificate_untrusted'),
    );
  });
});

it('names a receiver that does not listen, and one whose name is never answered', async () => {
  const port = await tlsReceiver(ends);
  await new Promise((resolve) => servers.pop()?.close(resolve));
  expect(await post(port)).toEqual(unanswered('connection_refused'));

  const silent = createReceivers({
    connectTimeout,
    resolve: (_name, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('cancelled'))),
      ),
  });
  expect(await silent.post(`https://${name}/`, {}, '')).toEqual(unanswered('connect_timeout'));
});

describe('without settings, an attempt has', () => {
  // The connections are real: only the two deadlines wait for this clock.
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it.each([
    ['5 s to connect', 5_000, tcpReceiver, 'connect_timeout'],
    ['15 s in all', 15_000, tlsReceiver, 'timeout'],
  ])('%s', async (_, limit, silentReceiver, reason) => {
    let result: AttemptResult | undefined;
    await new Promise((reached) => {
      const port = silentReceiver((socket) => socket.once('data', reached));
      port.then((number) => post(number, '{}', {})).then((attempt) => (result = attempt));
    });
    await jest.advanceTimersByTimeAsync(limit - 1);
    expect(result).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(result).toEqual(unanswered(reason));
  });
});
