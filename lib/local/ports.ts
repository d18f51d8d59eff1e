import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port that is to be listened on, for an environment. */
export interface WantedPort {
  readonly environment: string;
  /** 0: any free one. */
  readonly port: number;
  /** The option of `npm start` that chooses another. */
  readonly option: string;
}

/** Ports that cannot be had. */
export class PortsTaken extends Error {
  override readonly name = 'PortsTaken';
}

/**
 * Makes sure that each port can be listened on, before anything is started.
 *
 * @throws PortsTaken that names each port that cannot, and what to do
 */
export async function requireFreePorts(wanted: readonly WantedPort[]): Promise<void> {
  const problems = await Promise.all(wanted.map(problemOf));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new PortsTaken(found.join('\n'));
}

async function problemOf({ environment, port, option }: WantedPort): Promise<string | undefined> {
  if (port === 0) return undefined;
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? 'is taken by another program'
        : `cannot be listened on (${(error as NodeJS.ErrnoException).code})`;
    return (
      `Port ${port} of environment ${environment} ${reason}. ` +
      `See which: lsof -nP -iTCP:${port} -sTCP:LISTEN. Stop it, or choose another port: npm start -- ${option} ${environment}=9${String(port).slice(-3).padStart(3, '0')} (0: any free one).`
    );
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}
