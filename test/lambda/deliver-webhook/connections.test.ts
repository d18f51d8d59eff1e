import type { TLSSocket } from 'node:tls';
import { eventually } from '../../support/eventually';
import { answered, type Behaviour, good, head, unanswered, useScriptedReceivers } from './scripted-receivers';

const scripted = useScriptedReceivers();

/** A receiver that counts, and gives the same response to each request. */
async function answering(response = good) {
  const seen = { connections: 0, requests: 0, closed: 0, resumed: 0 };
  const behave: Behaviour = (socket) => {
    seen.connections += 1;
    if ((socket as TLSSocket).isSessionReused()) seen.resumed += 1;
    socket.on('data', () => {
      seen.requests += 1;
      socket.write(response);
    });
    socket.on('close', () => (seen.closed += 1));
  };
  return { port: await scripted.tls(behave), seen };
}
const bodyOf = (bytes: number) => `${head}content-length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;

it.each([
  ['reuse their connection after a 204', 'HTTP/1.1 204 No Content\r\n\r\n', 1],
  ['reuse their connection below 16 KiB', bodyOf(16 * 1_024 - 1), 1],
  ['use another connection after 16 KiB', bodyOf(16 * 1_024), 2],
  ['obey `connection: close`', `${head}connection: close\r\ncontent-length: 0\r\n\r\n`, 2],
])('deliveries of a webhook %s', async (_, response, connections) => {
  const { port, seen } = await answering(response);
  const send = scripted.client();
  await send(port);
  await send(port);
  // A resumed TLS session has no certificate to verify the name against.
  expect(seen).toMatchObject({ connections, requests: 2, resumed: 0 });
});

const [one, two] = ['93.184.216.34', '93.184.216.35'];
it.each([
  ['a new connection when the name resolves to another address', [[one], [two]], 2, answered()],
  ['an existing connection to one of several addresses', Array(12).fill([one, two]), 1, answered()],
  ['no connection if an address is private', [[one], [one, '10.0.0.1']], 1, unanswered('address_not_public')],
])('an attempt uses %s', async (_, resolved: string[][], connections, last) => {
  const { port, seen } = await answering();
  const answers = [...resolved];
  const send = scripted.client({ resolve: async () => answers.shift() ?? [] });
  for (const each of resolved) expect(await send(port)).toEqual(each === resolved[0] ? answered() : last);
  expect(seen.connections).toBe(connections);
});

it('an idle connection is closed before receivers close it after 5 s', async () => {
  const { port, seen } = await answering();
  await scripted.client({})(port);
  await eventually(() => seen.closed === 1, 20);
});

it('webhooks never share a connection; the least recently used is closed when more than 200 are open', async () => {
  const { port, seen } = await answering();
  const send = scripted.client();
  for (let number = 0; number < 200; number++) await send(port, { webhookId: `wh-${number}` });
  await send(port, { webhookId: 'wh-0' });
  expect(seen).toMatchObject({ closed: 0, connections: 200 });
  await send(port, { webhookId: 'wh-200' });
  await eventually(() => seen.closed === 1, 20);
  await send(port, { webhookId: 'wh-0' });
  expect(seen.connections).toBe(201);
  await send(port, { webhookId: 'wh-1' });
  expect(seen.connections).toBe(202);
});
