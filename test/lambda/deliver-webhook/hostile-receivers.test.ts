import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { createAuthority } from '../../support/certificates';
import {
  answered,
  type Behaviour,
  connectTimeout,
  endlessly,
  ends,
  good,
  head,
  receiverName as name,
  often,
  ourWebhook,
  say,
  ToldReceivers,
  timeout,
  unanswered,
} from './told-receivers';

/** Milliseconds. */
const slack = 1_500;

let told: ToldReceivers;
let post: ReturnType<ToldReceivers['client']>;

beforeAll(async () => {
  told = await ToldReceivers.start();
  post = (...request) => told.client()(...request);
});
afterAll(() => told.stop());

const manyHeaders = (count: number) =>
  Array.from({ length: count }, (_, index) => `x-${index}: value\r\n`).join('');
const bomb = gzipSync(Buffer.alloc(50_000_000));

const misbehaviours: readonly (readonly [name: string, Behaviour, AttemptResult])[] = [
  ['answers as it should', say(good), answered()],
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

describe.each(['a new', 'a kept'])(
  'a receiver is an attempt of bounded time, and the next delivery is unharmed, when over %s connection it',
  (connection) => {
    const isKept = connection === 'a kept';
    interface Run {
      readonly result: AttemptResult;
      readonly durationMs: number;
      readonly next: AttemptResult;
      readonly connections: number;
    }
    const runs = new Map<string, Promise<Run>>();

    async function run(behaviour: Behaviour): Promise<Run> {
      let connections = 0;
      const port = await told.tls((socket) => {
        connections += 1;
        if (isKept) socket.once('data', () => socket.write(good, () => behaviour(socket)));
        else behaviour(socket);
      });
      const send = told.client();
      if (isKept) await send(port);
      const begin = performance.now();
      const result = await send(port);
      const durationMs = performance.now() - begin;
      const healthy = await told.tls(say(`${head}content-length: 0\r\n\r\n`));
      return { result, durationMs, next: await send(healthy), connections };
    }

    beforeAll(async () => {
      // A few at once: the endless ones leave a busy machine no time for the others.
      for (const [index, [misbehaviour, behaviour]] of misbehaviours.entries()) {
        runs.set(misbehaviour, run(behaviour));
        if (index % 3 === 2) await Promise.allSettled(runs.values());
      }
      await Promise.allSettled(runs.values());
    });

    it.each(misbehaviours)('%s', async (misbehaviour, _behaviour, expected) => {
      const { result, durationMs, next, connections } = (await runs.get(misbehaviour)) as Run;
      // Lost before a byte of an answer, a request over a kept connection is sent again, over a new one.
      const isSentAgain = isKept && misbehaviour === 'closes without an answer';
      expect(result).toEqual(isSentAgain ? answered() : expected);
      expect(connections).toBe(isSentAgain ? 2 : 1);
      expect(durationMs).toBeLessThan(timeout + slack);
      expect(next).toEqual(answered());
    });
  },
);

describe('a receiver whose connection is reset', () => {
  /** Says the text, then resets. A TLS socket has no reset of its own: a relay in front of the receiver makes one. */
  const resettingReceiver = async (text: string) => {
    let front: Socket | undefined;
    const port = await told.tls(say(text, () => setTimeout(() => front?.resetAndDestroy(), 100)));
    return told.tcp((socket) => {
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
  const port = await told.tls((socket) => socket.write(`${head}content-length: 0\r\n\r\n`));
  expect(await post(port, 'x'.repeat(60_000))).toEqual(answered());
});

it.each([
  ['promised', `${head}content-length: 10\r\n\r\n`],
  ['chunked', `${head}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`],
])('does not wait for the end of a %s body: the status is the answer', async (_, text) => {
  const port = await told.tls(say(text));
  const begin = performance.now();
  expect(await post(port)).toEqual(answered());
  expect(performance.now() - begin).toBeLessThan(timeout);
});

it('reads Retry-After', async () => {
  const port = await told.tls(say('HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n'));
  expect(await post(port)).toEqual({ answered: true, status: 503, retryAfter: '120' });
});

it('closes every connection, whatever the receiver did', async () => {
  const port = await told.tls(say(`${head}\r\n`, often('a', 20)));
  await post(port);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([...told.sockets].filter(({ localPort }) => localPort === port)).toEqual([]);
});

it('takes a bounded part of an endless answer', async () => {
  let sent = 0;
  const port = await told.tls(
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
      () => told.authority.issue({ name, notBefore: inDays(-3), notAfter: inDays(-2) }),
      'certificate_expired',
    ],
    [
      'not yet valid',
      () => told.authority.issue({ name, notBefore: inDays(2), notAfter: inDays(3) }),
      'certificate_not_yet_valid',
    ],
    ["another name's", () => told.authority.issue({ name: 'other.example.com' }), 'certificate_wrong_name'],
    ["another authority's", async () => (await createAuthority()).issue({ name }), 'certificate_untrusted'],
  ])('refuses a certificate that is %s, and sends nothing', async (_name, certificate, reason) => {
    let received = 0;
    const port = await told.tls(
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
    const port = await told.tcp(behaviour);
    const begin = performance.now();
    expect(await post(port)).toEqual(unanswered(reason));
    expect(performance.now() - begin).toBeLessThan(connectTimeout + slack);
  });

  it('trusts the public authorities alone, whatever else the process trusts', async () => {
    const port = await told.tls(say(head));
    const receivers = createReceivers({
      resolve: async () => ['93.184.216.34'],
      route: () => '127.0.0.1',
    });
    expect(
      await receivers.post({ webhookId: ourWebhook, url: `https://${name}:${port}/`, headers: {}, body: '' }),
    ).toEqual(unanswered('certificate_untrusted'));
  });
});

it('names a receiver that does not listen, and one whose name is never answered', async () => {
  const port = await told.tls(ends);
  await told.stopLast();
  expect(await post(port)).toEqual(unanswered('connection_refused'));

  const silent = createReceivers({
    connectTimeout,
    resolve: (_name, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('cancelled'))),
      ),
  });
  expect(
    await silent.post({ webhookId: ourWebhook, url: `https://${name}/`, headers: {}, body: '' }),
  ).toEqual(unanswered('connect_timeout'));
});

describe('without settings, an attempt has', () => {
  // The connections are real: only the two deadlines wait for this clock.
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it.each([
    ['5 s to connect', 5_000, 'tcp', 'connect_timeout'],
    ['15 s in all', 15_000, 'tls', 'timeout'],
  ] as const)('%s', async (_, limit, protocol, reason) => {
    let result: AttemptResult | undefined;
    await new Promise((reached) => {
      const port = told[protocol]((socket) => socket.once('data', reached));
      port.then((number) => told.client({})(number)).then((attempt) => (result = attempt));
    });
    await jest.advanceTimersByTimeAsync(limit - 1);
    expect(result).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(result).toEqual(unanswered(reason));
  });
});
