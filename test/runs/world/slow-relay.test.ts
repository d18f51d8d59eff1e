import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Cleanup } from '../../../local/cleanup';
import { startSlowRelay } from './slow-relay';

it('adds its round trip to a request and its answer, and keeps the order', async () => {
  const cleanup = new Cleanup();
  try {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    cleanup.add(() => echo.close());
    await once(echo, 'listening');
    const server = { host: '127.0.0.1', port: (echo.address() as AddressInfo).port };
    const port = await startSlowRelay(cleanup, { server, roundTripMs: 30 });
    const client = connect({ host: '127.0.0.1', port, noDelay: true }).setEncoding('utf8');
    cleanup.add(() => client.destroy());
    await once(client, 'connect');

    const begin = performance.now();
    let answer = '';
    client.on('data', (text) => {
      answer += text;
    });
    for (const each of ['a', 'b', 'c']) client.write(each);
    while (answer.length < 3) await once(client, 'data');
    expect(answer).toBe('abc');
    expect(performance.now() - begin).toBeGreaterThanOrEqual(30);
  } finally {
    await cleanup.run();
  }
});
