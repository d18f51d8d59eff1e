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

/** A receiver that responds by the request's number on its connection, and records the requests. */
async function answering(answer: (request: number, connection: number) => string | Behaviour) {
  const seen = { connections: 0, requests: 0, closed: 0 };
  const port = await scripted.tls((socket) => {
    seen.connections += 1;
    const connection = seen.connections;
    let request = 0;
    socket.on('data', () => {
      seen.requests += 1;
      request += 1;
      const response = answer(request, connection);
      if (typeof response === 'string') socket.write(response);
      else response(socket);
    });
    socket.on('close', () => (seen.closed += 1));
  });
  return { port, seen };
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (condition: () => boolean) => {
  while (!condition()) await pause(5);
};
const status = (code: number) => `HTTP/1.1 ${code} Status\r\ncontent-length: 0\r\n\r\n`;
const bodyOf = (bytes: number) => `${head}content-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;

it('is reused by the deliveries of a webhook', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
  for (let count = 0; count < 3; count++) expect(await send(port)).toEqual(answered());
  expect(seen).toMatchObject({ connections: 1, requests: 3 });
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
  ['a body just below 16 KiB', bodyOf(16 * 1_024 - 1)],
])('stays open after %s', async (_, text) => {
  const { port, seen } = await answering(() => text);
  const send = scripted.client();
  await send(port);
  await send(port);
  expect(seen.connections).toBe(1);
});

it('is never shared by two webhooks, so an extra response cannot reach the other webhook', async () => {
  // Response smuggling: a second response to the first request.
  const { port, seen } = await answering((request, connection) =>
    connection === 1 ? `${good}${status(410)}` : request === 1 ? status(201) : good,
  );
  const send = scripted.client();
  expect(await send(port, '{}', ourWebhook)).toEqual(answered());
  expect(await send(port, '{}', othersWebhook)).toEqual(answered(201));
  expect(seen.connections).toBe(2);
});

it.each([
  ['sends `connection: close`', `${head}connection: close\r\ncontent-length: 0\r\n\r\n`],
  ['uses HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['sends `keep-alive: timeout=0`', `${head}keep-alive: timeout=0\r\ncontent-length: 0\r\n\r\n`],
  ['sends a body of 16 KiB, which is the limit', bodyOf(16 * 1_024)],
])('is not reused when the receiver %s', async (_, text) => {
  const { port, seen } = await answering(() => text);
  const send = scripted.client();
  await send(port);
  await send(port);
  expect(seen.connections).toBe(2);
});

describe('that the receiver closes', () => {
  it('while idle is not used again', async () => {
    const { port, seen } = await answering(() => (socket) => socket.write(good, () => socket.end()));
    const send = scripted.client();
    expect(await send(port)).toEqual(answered());
    await until(() => seen.closed === 1);
    expect(await send(port)).toEqual(answered());
    expect(seen.requests).toBe(2);
  });

  it('during a request, before any byte of a response: the request is resent over a new one', async () => {
    const { port, seen } = await answering(
      (request, connection) => (socket) =>
        connection === 1 && request === 2 ? socket.destroy() : socket.write(good),
    );
    const send = scripted.client();
    await send(port);
    expect(await send(port)).toEqual(answered());
    expect(seen).toMatchObject({ connections: 2, requests: 3 });
  });

  it('after a byte of a response: nothing is resent, because the receiver may have acted', async () => {
    const { port, seen } = await answering((request) => (socket) => {
      if (request === 1) socket.write(good);
      else socket.write('H', () => socket.destroy());
    });
    const send = scripted.client();
    await send(port);
    expect((await send(port)).answered).toBe(false);
    expect(seen.requests).toBe(2);
  });

  it('during its first request: nothing is resent', async () => {
    const { port, seen } = await answering(() => (socket) => socket.end());
    expect(await scripted.client()(port)).toEqual(unanswered('connection_closed'));
    expect(seen.requests).toBe(1);
  });
});

describe('is chosen by the addresses that were checked for this attempt:', () => {
  const resolving = (answers: (readonly string[])[]) =>
    scripted.client({ resolve: async () => answers.shift() ?? [] });

  it('not a connection to an address that the name no longer resolves to', async () => {
    const { port, seen } = await answering(() => good);
    const send = resolving([['93.184.216.34'], ['93.184.216.35']]);
    await send(port);
    await send(port);
    expect(seen.connections).toBe(2);
  });

  it('an address with an open connection, if there are several', async () => {
    const { port, seen } = await answering(() => good);
    const addresses = ['93.184.216.34', '93.184.216.35', '93.184.216.36', '93.184.216.37'];
    const send = resolving(Array(12).fill(addresses));
    for (let count = 0; count < 12; count++) await send(port);
    expect(seen.connections).toBe(1);
  });

  it('no connection once the name resolves to a private address', async () => {
    const { port, seen } = await answering(() => good);
    const send = resolving([['93.184.216.34'], ['93.184.216.34', '10.0.0.1'], ['169.254.169.254']]);
    expect(await send(port)).toEqual(answered());
    expect(await send(port)).toEqual(unanswered('address_not_public'));
    expect(await send(port)).toEqual(unanswered('address_not_public'));
    expect(seen.requests).toBe(1);
  });
});

it('is closed when idle, before receivers that close after 5 s', async () => {
  const { port, seen } = await answering(() => good);
  await scripted.client({})(port);
  await until(() => seen.closed === 1);
});

it('is closed when 200 other webhooks have used theirs since', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
  for (let number = 0; number < 200; number++) await send(port, '{}', `wh-${number}`);
  await send(port, '{}', 'wh-0');
  expect({ closed: seen.closed, connections: seen.connections }).toEqual({ closed: 0, connections: 200 });
  await send(port, '{}', 'wh-200');
  // Closed by count, not by the idle timeout.
  for (let count = 0; count < 50 && seen.closed === 0; count++) await send(port, '{}', 'wh-200');
  expect(seen.closed).toBe(1);
  await send(port, '{}', 'wh-0');
  expect(seen.connections).toBe(201);
  await send(port, '{}', 'wh-1');
  expect(seen.connections).toBe(202);
});

it('is one of at most fifty idle ones of a webhook', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
  const sendMany = () => Promise.all(Array.from({ length: 52 }, () => send(port)));
  await sendMany();
  expect(seen.connections).toBe(52);
  await sendMany();
  expect(seen.connections).toBe(54);
});

it('is reused for a receiver on this machine too', async () => {
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
