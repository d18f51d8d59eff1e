import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/** An HTTP server on a free port of this machine. Its URL ends with a slash. */
export async function startHttpServer(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  // Only the client closes idle connections: closing here could lose its next request.
  server.keepAliveTimeout = 0;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    async stop(): Promise<void> {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}
