import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port that is to be listened on, for an environment. */
export interface WantedPort {
  readonly environment: string;
  /** 0: any free one. */
  readonly port: number;
  /** The option of `npm start` that chooses another. */
  readonly option: '--port' | '--dashboard-port';
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
  const fixed = wanted.filter(({ port }) => port !== 0);
  const contested = fixed.flatMap((each, index) => contestOf(each, fixed.slice(0, index), fixed));
  const problems =
    contested.length > 0 ? contested : await Promise.all(fixed.map((each) => problemOf(each, fixed)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new PortsTaken(found.join('\n'));
}

/** What kept the environments from listening after all: another start may have taken a port since it was looked at. */
export function portTakenMeanwhile(error: unknown): PortsTaken | undefined {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== 'EADDRINUSE') return undefined;
  return new PortsTaken(
    `Port ${port} was taken by another program while the environments started. See which: ${listenersOf(port)}. Stop it, or choose another port with --port or --dashboard-port.`,
  );
}

/** A port that an earlier one of the wanted has already. */
function contestOf(later: WantedPort, earlier: readonly WantedPort[], all: readonly WantedPort[]): string[] {
  const first = earlier.find(({ port }) => port === later.port);
  if (!first) return [];
  return [
    `Port ${later.port} is wanted twice: for the ${purposeOf(first)} and for the ${purposeOf(later)}. ` +
      `Choose another for one of them: ${anotherPort(later, all)}`,
  ];
}

async function problemOf(wanted: WantedPort, all: readonly WantedPort[]): Promise<string | undefined> {
  const { port } = wanted;
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return `Port ${port} of environment ${wanted.environment} ${reasonOf(error as NodeJS.ErrnoException, port)} ${anotherPort(wanted, all)}`;
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}

function reasonOf({ code }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE')
    return `is taken by another program. See which: ${listenersOf(port)}. Stop it, or choose another port:`;
  if (code === 'EACCES') return 'may be listened on by root alone (EACCES). Choose one from 1024 up:';
  return `cannot be listened on (${code}). Choose another:`;
}

const listenersOf = (port: number | undefined) => `lsof -nP -iTCP:${port} -sTCP:LISTEN`;

const purposeOf = ({ environment, option }: WantedPort) =>
  `${option === '--port' ? 'API' : 'dashboard'} of environment ${environment}`;

/** How to choose one that none of the wanted is: from 9000 up, where the usual ones are not. */
function anotherPort({ port, option, environment }: WantedPort, all: readonly WantedPort[]): string {
  const taken = new Set(all.map((each) => each.port));
  let other = 9_000 + (port % 1_000);
  while (taken.has(other)) other += 1;
  return `npm start -- ${option} ${environment}=${other} (0: any free one).`;
}
