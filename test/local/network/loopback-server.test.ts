import { request } from 'node:http';
import { startLoopbackServer } from '../../../local/network/loopback-server';

test('leaves idle connections to the client: no request is sent on one that the server closes', async () => {
  const server = await startLoopbackServer(async () => ({ status: 200, headers: {}, body: '{}' }), 10);
  try {
    const headers = await new Promise<NodeJS.Dict<string | string[]>>((resolve, reject) => {
      const sent = request(server.url, { headers: { connection: 'keep-alive' } }, (response) =>
        response.resume().on('end', () => resolve(response.headers)),
      );
      sent.on('error', reject).end();
    });
    // Node.js announces in `Keep-Alive: timeout=N` when its server closes an idle connection.
    expect(headers).toMatchObject({ connection: 'keep-alive' });
    expect(headers).not.toHaveProperty('keep-alive');
  } finally {
    await server.close();
  }
});
