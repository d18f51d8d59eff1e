import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import {
  answered,
  type Behaviour,
  good,
  head,
  ourWebhook,
  ScriptedReceivers,
  unanswered,
} from './scripted-receivers';

const othersWebhook = 'wh-00002-00002-0000000000000002';
let scripted: ScriptedReceivers;

beforeAll(async () => {
  scripted = await ScriptedReceivers.start();
});
afterAll(() => scripted.stop());

/** A receiver that gives the answers one after the other, each to a request, and what it has seen. */
async function answering(answer: (request: number, connection: number) => string | Behaviour) {
  const seen = { connections: 0, requests: 0, closed: 0 };
  const port = await scripted.tls((socket) => {
    seen.connections += 1;
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
const until = async (condition: () => boolean) => {
  while (!condition()) await pause(5);
};
const status = (code: number) => `HTTP/1.1 ${code} Said\r\ncontent-length: 0\r\n\r\n`;

it('carries the deliveries of one webhook, one after the other', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
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
  const send = scripted.client();
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
  const send = scripted.client();
  await send(port);
  await send(port);
  expect(seen.connections).toBe(1);
});

it('is never shared by two webhooks: what one receiver says more is no answer to the other', async () => {
  // A second answer for whoever comes next: in time, and after the first request, as a smuggler would.
  const { port, seen } = await answering((request, connection) =>
    connection === 1 ? `${good}${status(410)}` : request === 1 ? status(201) : good,
  );
  const send = scripted.client();
  expect(await send(port, '{}', ourWebhook)).toEqual(answered());
  expect(await send(port, '{}', othersWebhook)).toEqual(answered(201));
  expect(seen.connections).toBe(2);
});

it.each([
  ['asks for the end of the connection', `${head}connection: close\r\ncontent-length: 0\r\n\r\n`],
  ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['gives it no time', `${head}keep-alive: timeout=0\r\ncontent-length: 0\r\n\r\n`],
])('is not kept when the receiver %s', async (_, text) => {
  const { port, seen } = await answering(() => text);
  const send = scripted.client();
  await send(port);
  await until(() => seen.closed === 1);
  await send(port);
  expect(seen.connections).toBe(2);
});

describe('that the receiver has closed', () => {
  it('before the request is noticed, and nothing is sent over it', async () => {
    const { port, seen } = await answering(() => (socket) => socket.write(good, () => socket.end()));
    const send = scripted.client();
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
    const send = scripted.client();
    await send(port);
    expect(await send(port)).toEqual(answered());
    expect(seen).toMatchObject({ connections: 2, requests: 3 });
  });

  it('after a byte of an answer has nothing sent again: the receiver may have acted', async () => {
    const { port, seen } = await answering((request) => (socket) => {
      if (request === 1) socket.write(good);
      else socket.write('H', () => socket.destroy());
    });
    const send = scripted.client();
    await send(port);
    expect((await send(port)).answered).toBe(false);
    expect(seen.requests).toBe(2);
  });

  it('at the first request of a new one has nothing sent again', async () => {
    const { port, seen } = await answering(() => (socket) => socket.end());
    expect(await scripted.client()(port)).toEqual(unanswered('connection_closed'));
    expect(seen.requests).toBe(1);
  });
});

describe('is for the address that was judged for this very attempt', () => {
  const resolving = (answers: (readonly string[])[]) =>
    scripted.client({ resolve: async () => answers.shift() ?? [] });

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
    await scripted.client()(port);
    await jest.advanceTimersByTimeAsync(3_900);
    expect(seen.closed).toBe(0);
    await jest.advanceTimersByTimeAsync(200);
    jest.useRealTimers();
    await until(() => seen.closed === 1);
  });
});

it('is one of 200 to 200 webhooks: the one that was idle for the longest time is closed first', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
  for (let number = 0; number < 200; number++) await send(port, '{}', `wh-${number}`);
  await send(port, '{}', 'wh-0');
  expect({ closed: seen.closed, connections: seen.connections }).toEqual({ closed: 0, connections: 200 });
  await send(port, '{}', 'wh-200');
  await until(() => seen.closed === 1);
  await send(port, '{}', 'wh-0');
  expect(seen.connections).toBe(201);
  await send(port, '{}', 'wh-1');
  expect(seen.connections).toBe(202);
});

it('is one of ten to one webhook', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
  const sendTwelve = () => Promise.all(Array.from({ length: 12 }, () => send(port)));
  await sendTwelve();
  expect(seen.connections).toBe(12);
  await sendTwelve();
  expect(seen.connections).toBe(14);
});

it('carries the deliveries to a receiver on this machine too', async () => {
  let connections = 0;
  const port = await scripted.tcp((socket) => {
    connections += 1;
    socket.on('data', () => socket.write(good));
  });
  const receivers = createReceivers({ allowLocal: true });
  const request = { webhookId: ourWebhook, url: `http://127.0.0.1:${port}/`, headers: {}, body: '' };
  expect(await receivers.post(request)).toEqual(answered());
  expect(await receivers.post(request)).toEqual(answered());
  expect(connections).toBe(1);
});
