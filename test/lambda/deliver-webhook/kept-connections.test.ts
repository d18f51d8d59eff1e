import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import {
  answered,
  type Behaviour,
  good,
  head,
  ourWebhook,
  ToldReceivers,
  unanswered,
} from './told-receivers';

const othersWebhook = 'wh-00002-00002-0000000000000002';
let told: ToldReceivers;

beforeAll(async () => {
  told = await ToldReceivers.start();
});
afterAll(() => told.stop());

/** A receiver that gives the answers one after the other, each to a request, and what it has seen. */
async function answering(answer: (request: number, connection: number) => string | Behaviour) {
  const seen = { connections: 0, requests: 0, closed: 0, most: 0 };
  const port = await told.tls((socket) => {
    seen.connections += 1;
    seen.most = Math.max(seen.most, seen.connections - seen.closed);
    const connection = seen.connections;
    let request = 0;
    socket.on('data', () => {
      seen.requests += 1;
      request += 1;
      const said = answer(request, connection);
      if (typeof said === 'string') socket.write(said);
      else said(socket);
    });
    socket.on('close', () => (seen.closed += 1));
  });
  return { port, seen };
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Waits until it is so; a test's own time ends the wait. */
const until = async (isSo: () => boolean) => {
  while (!isSo()) await pause(5);
};
const status = (code: number) => `HTTP/1.1 ${code} Said\r\ncontent-length: 0\r\n\r\n`;

it('carries the deliveries of one webhook, one after the other', async () => {
  const { port, seen } = await answering(() => good);
  const send = told.client();
  for (let count = 0; count < 20; count++) expect(await send(port)).toEqual(answered());
  expect(seen).toMatchObject({ connections: 1, requests: 20 });
});

it('carries one request at a time', async () => {
  let open = 0;
  let most = 0;
  const { port, seen } = await answering(() => (socket) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => socket.write(good, () => (open -= 1)), 30);
  });
  const send = told.client();
  const both = () => Promise.all([send(port), send(port), send(port)]);
  expect([...(await both()), ...(await both())]).toEqual(Array(6).fill(answered()));
  expect({ most, connections: seen.connections }).toEqual({ most: 3, connections: 3 });
});

it.each([
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['an error', status(500)],
  ['a chunked body', `${head}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
])('is kept after %s', async (_, text) => {
  const { port, seen } = await answering(() => text);
  const send = told.client();
  await send(port);
  await send(port);
  expect(seen.connections).toBe(1);
});

it('is never shared by two webhooks: what one receiver says more is no answer to the other', async () => {
  // A second answer for whoever comes next: in time, and after the first request, as a smuggler would.
  const { port, seen } = await answering((request, connection) =>
    connection === 1 ? `${good}${status(410)}` : request === 1 ? status(201) : good,
  );
  const send = told.client();
  expect(await send(port, '{}', ourWebhook)).toEqual(answered());
  expect(await send(port, '{}', othersWebhook)).toEqual(answered(201));
  expect(seen.connections).toBe(2);
});

it('is not shared by two webhooks of an honest receiver either, in any order', async () => {
  const { port, seen } = await answering((_, connection) => status(200 + connection));
  const send = told.client();
  const turns = [ourWebhook, othersWebhook, ourWebhook, othersWebhook];
  const results: AttemptResult[] = [];
  for (const webhookId of turns) results.push(await send(port, '{}', webhookId));
  expect(results).toEqual([201, 202, 201, 202].map(answered));
  expect(seen.connections).toBe(2);
});

it.each([
  ['asks for the end of the connection', `${head}connection: close\r\ncontent-length: 0\r\n\r\n`],
  ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['gives it no time', `${head}keep-alive: timeout=0\r\ncontent-length: 0\r\n\r\n`],
])('is not kept when the receiver %s', async (_, text) => {
  const { port, seen } = await answering(() => text);
  const send = told.client();
  await send(port);
  await until(() => seen.closed === 1);
  await send(port);
  expect(seen.connections).toBe(2);
});

describe('that the receiver has closed', () => {
  it('before the request is noticed, and nothing is sent over it', async () => {
    const { port, seen } = await answering(() => (socket) => socket.write(good, () => socket.end()));
    const send = told.client();
    expect(await send(port)).toEqual(answered());
    await until(() => seen.closed === 1);
    expect(await send(port)).toEqual(answered());
    expect(seen.requests).toBe(2);
  });

  it('at the request, without a byte of an answer, has it sent again over a new one', async () => {
    const { port, seen } = await answering(
      (request, connection) => (socket) =>
        connection === 1 && request === 2 ? socket.destroy() : socket.write(good),
    );
    const send = told.client();
    await send(port);
    expect(await send(port)).toEqual(answered());
    expect(seen).toMatchObject({ connections: 2, requests: 3 });
  });

  it('after a byte of an answer has nothing sent again: the receiver may have acted', async () => {
    const { port, seen } = await answering((request) => (socket) => {
      if (request === 1) socket.write(good);
      else socket.write('H', () => socket.destroy());
    });
    const send = told.client();
    await send(port);
    expect((await send(port)).answered).toBe(false);
    expect(seen.requests).toBe(2);
  });

  it('at the first request of a new one has nothing sent again', async () => {
    const { port, seen } = await answering(() => (socket) => socket.end());
    expect(await told.client()(port)).toEqual(unanswered('connection_closed'));
    expect(seen.requests).toBe(1);
  });
});

describe('is for the address that was judged for this very attempt', () => {
  const resolving = (answers: (readonly string[])[]) =>
    told.client({ resolve: async () => answers.shift() ?? [] });

  it('and not for another one that the name has come to have', async () => {
    const { port, seen } = await answering(() => good);
    const send = resolving([['93.184.216.34'], ['93.184.216.35']]);
    await send(port);
    await send(port);
    expect(seen.connections).toBe(2);
  });

  it('of several, the one that has a connection', async () => {
    const { port, seen } = await answering(() => good);
    const addresses = ['93.184.216.34', '93.184.216.35', '93.184.216.36', '93.184.216.37'];
    const send = resolving(Array(12).fill(addresses));
    for (let count = 0; count < 12; count++) await send(port);
    expect(seen.connections).toBe(1);
  });

  it('and is not used once the name points inside', async () => {
    const { port, seen } = await answering(() => good);
    const send = resolving([['93.184.216.34'], ['93.184.216.34', '10.0.0.1'], ['169.254.169.254']]);
    expect(await send(port)).toEqual(answered());
    expect(await send(port)).toEqual(unanswered('address_not_public'));
    expect(await send(port)).toEqual(unanswered('address_not_public'));
    expect(seen.requests).toBe(1);
  });
});

describe('when nothing is sent', () => {
  const idle = { doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'Date', 'performance'] } as const;
  afterEach(() => jest.useRealTimers());

  it('is closed after four seconds', async () => {
    const { port, seen } = await answering(() => good);
    jest.useFakeTimers({ doNotFake: [...idle.doNotFake] });
    await told.client()(port);
    await jest.advanceTimersByTimeAsync(3_900);
    expect(seen.closed).toBe(0);
    await jest.advanceTimersByTimeAsync(200);
    jest.useRealTimers();
    await until(() => seen.closed === 1);
  });
});

it('is one of 200 idle ones at most, and the oldest go first', async () => {
  const { port, seen } = await answering(() => good);
  const send = told.client();
  for (let number = 0; number < 300; number++) await send(port, '{}', `wh-${number}`);
  // The receiver hears of an end a moment later.
  expect(seen.most).toBeLessThan(220);
  await send(port, '{}', 'wh-299');
  expect(seen.connections).toBe(300);
  await send(port, '{}', 'wh-0');
  expect(seen.connections).toBe(301);
});

it('costs a receiver less than 50 handshakes for a thousand deliveries, to ten receivers', async () => {
  const receivers = await Promise.all(Array.from({ length: 10 }, () => answering(() => good)));
  const send = told.client();
  for (let batch = 0; batch < 100; batch++) await Promise.all(receivers.map(({ port }) => send(port)));
  const handshakes = receivers.reduce((sum, { seen }) => sum + seen.connections, 0);
  expect(handshakes).toBeLessThan(50);
});

it('carries the deliveries to a receiver on this machine too', async () => {
  let connections = 0;
  const port = await told.tcp((socket) => {
    connections += 1;
    socket.on('data', () => socket.write(good));
  });
  const receivers = createReceivers({ allowLocal: true });
  const request = { webhookId: ourWebhook, url: `http://127.0.0.1:${port}/`, headers: {}, body: '' };
  expect(await receivers.post(request)).toEqual(answered());
  expect(await receivers.post(request)).toEqual(answered());
  expect(connections).toBe(1);
});
