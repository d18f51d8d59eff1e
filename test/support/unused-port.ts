import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux (32768 and up) and macOS (49152 and up), which most of the tests use. */
const from = 10_000;
const to = 30_000;

/** A free port that no server gets by listening on port 0. */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = from + Math.floor(Math.random() * (to - from));
    const server = createServer();
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
