import type { TLSSocket } from 'node:tls';
import { answered, type Behaviour, good, head, unanswered, useScriptedReceivers } from './scripted-receivers';

const scripted = useScriptedReceivers();

/** A receiver that counts, and responds by the numbers of the connection and of the request on it. */
async function answering(answer: (connection: number, request: number) => string) {
  const seen = { connections: 0, requests: 0, closed: 0, resumed: 0 };
  const behave: Behaviour = (socket) => {
    seen.connections += 1;
    if ((socket as TLSSocket).isSessionReused()) seen.resumed += 1;
    const connection = seen.connections;
    let request = 0;
    socket.on('data', () => {
      seen.requests += 1;
      request += 1;
      socket.write(answer(connection, request));
    });
    socket.on('close', () => (seen.closed += 1));
  };
  return { port: await scripted.tls(behave), seen };
}
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const status = (code: number) => `HTTP/1.1 ${code} Status\r\ncontent-length: 0\r\n\r\n`;
const bodyOf = (bytes: number) => `${head}content-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;

it.each([
  ['reuse their connection after a body', good, 1],
  ['reuse their connection after a 204', 'HTTP/1.1 204 No Content\r\n\r\n', 1],
  ['reuse their connection after an error', status(500), 1],
  ['reuse their connection after chunks', `${head}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 1],
  ['reuse their connection below 16 KiB', bodyOf(16 * 1_024 - 1), 1],
  ['use another connection after 16 KiB', bodyOf(16 * 1_024), 2],
  ['obey `connection: close`', `${head}connection: close\r\ncontent-length: 0\r\n\r\n`, 2],
  ['obey `keep-alive: timeout=0`', `${head}keep-alive: timeout=0\r\ncontent-length: 0\r\n\r\n`, 2],
  ['use another connection after HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', 2],
])('deliveries of a webhook %s', async (_, text, connections) => {
  const { port, seen } = await answering(() => text);
  const send = scripted.client();
  await send(port);
  await send(port);
  // A resumed TLS session has no certificate to verify the name against.
  expect(seen).toMatchObject({ connections, requests: 2, resumed: 0 });
});

it.each([
  ['as usual', good],
  // Response smuggling: the second one would answer the other webhook.
  ['twice', `${good}${status(410)}`],
])('two webhooks never share a connection, when the receiver responds %s', async (_, first) => {
  const { port, seen } = await answering((connection) => (connection === 1 ? first : status(201)));
  const send = scripted.client();
  expect(await send(port)).toEqual(answered());
  expect(await send(port, { webhookId: 'wh-00002-00002-0000000000000002' })).toEqual(answered(201));
  expect(seen.connections).toBe(2);
});

const [one, two] = ['93.184.216.34', '93.184.216.35'];
const refused = unanswered('address_not_public');
it.each([
  ['a new connection when the name resolves to another address', [[one], [two]], 2, answered()],
  [
    'an existing connection to one of several addresses',
    Array(12).fill([one, two, '93.184.216.36']),
    1,
    answered(),
  ],
  ['no connection if one of the addresses is private', [[one], [one, '10.0.0.1']], 1, refused],
  ['no connection to a private address', [[one], ['169.254.169.254']], 1, refused],
])('an attempt uses %s', async (_, resolved: string[][], connections, last) => {
  const { port, seen } = await answering(() => good);
  const answers = [...resolved];
  const send = scripted.client({ resolve: async () => answers.shift() ?? [] });
  for (const each of resolved) expect(await send(port)).toEqual(each === resolved[0] ? answered() : last);
  expect(seen.connections).toBe(connections);
});

it('an idle connection is closed before receivers close it after 5 s', async () => {
  const { port, seen } = await answering(() => good);
  await scripted.client({})(port);
  await until(() => seen.closed === 1);
});

it('the least recently used connection is closed when more than 200 are open', async () => {
  const { port, seen } = await answering(() => good);
  const send = scripted.client();
  for (let number = 0; number < 200; number++) await send(port, { webhookId: `wh-${number}` });
  await send(port, { webhookId: 'wh-0' });
  expect(seen).toMatchObject({ closed: 0, connections: 200 });
  await send(port, { webhookId: 'wh-200' });
  await until(() => seen.closed === 1);
  await send(port, { webhookId: 'wh-0' });
  expect(seen.connections).toBe(201);
  await send(port, { webhookId: 'wh-1' });
  expect(seen.connections).toBe(202);
});
