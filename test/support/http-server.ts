import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

/** An HTTP server on a free port of this machine. */
export interface HttpServer {
  readonly port: number;
  /** Ends with a slash. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startHttpServer(listener: RequestListener): Promise<HttpServer> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  // Only the client closes idle connections: closing here could lose its next request.
  server.keepAliveTimeout = 0;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Below the ephemeral ports of Linux (32768 and up) and macOS (49152 and up), which most of the tests use. */
const unusedPorts = { from: 10_000, to: 30_000 };

/** A free port that no server gets by listening on port 0. */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = unusedPorts.from + Math.floor(Math.random() * (unusedPorts.to - unusedPorts.from));
    const server = createTcpServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}
