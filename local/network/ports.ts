import { once } from 'node:events';
import { createServer } from 'node:net';
import { startCommand } from '../../cli/pasted-command';

/** A port for one of an environment's servers. */
export interface RequestedPort {
  readonly environment: string;
  /** 0: any free one. */
  readonly port: number;
  /** The option of `npm start` that chooses another. */
  readonly option: '--port' | '--dashboard-port';
}

/** Ports that cannot be listened on. */
export class PortsUnavailable extends Error {
  override readonly name = 'PortsUnavailable';
}

/**
 * Checks that each port can be listened on, before anything is started.
 *
 * @param offset that is in the ports already, as `--port-offset` gave it
 * @throws PortsUnavailable that names each port that cannot, and what to do
 */
export async function requireFreePorts(requested: readonly RequestedPort[], offset = 0): Promise<void> {
  const fixed = requested.filter(({ port }) => port !== 0);
  const conflicts = fixed.map((each, index) => conflictOf(each, fixed.slice(0, index), fixed));
  const problems = conflicts.some(Boolean)
    ? conflicts
    : await Promise.all(fixed.map((each) => problemOf(each, fixed)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 1 && !conflicts.some(Boolean)) found.push(await moveAll(fixed, offset));
  if (found.length > 0) throw new PortsUnavailable(found.join('\n'));
}

/** The error for a port that another program took during the start; undefined for every other error. */
export function portTakenDuringStart(error: unknown): PortsUnavailable | undefined {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== 'EADDRINUSE') return undefined;
  return new PortsUnavailable(
    `Port ${port} was taken by another program while the environments started. See which: ${listenersOf(port)}. Stop it, or choose another port with --port or --dashboard-port.`,
  );
}

/** A port that an earlier request has already. */
function conflictOf(
  later: RequestedPort,
  earlier: readonly RequestedPort[],
  all: readonly RequestedPort[],
): string | undefined {
  const first = earlier.find(({ port }) => port === later.port);
  if (!first) return undefined;
  return (
    `Port ${later.port} is wanted twice: for the ${purposeOf(first)} and for the ${purposeOf(later)}. ` +
    `Choose another for one of them: ${anotherPort(later, all)}`
  );
}

async function problemOf(
  requested: RequestedPort,
  all: readonly RequestedPort[],
): Promise<string | undefined> {
  const { port, environment } = requested;
  const error = await errorOf(port);
  if (!error) return undefined;
  return `Port ${port} of environment ${environment} ${reasonOf(error, port)} ${anotherPort(requested, all)}`;
}

/** Why a port cannot be listened on; undefined when it can. */
async function errorOf(port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  server.close();
  await once(server, 'close');
  return undefined;
}

/** One option for many ports: the next thousand in which all of them are free. */
async function moveAll(taken: readonly RequestedPort[], offset: number): Promise<string> {
  const highest = Math.max(...taken.map(({ port }) => port));
  for (let step = 1_000; highest + step <= 65_535; step += 1_000) {
    const errors = await Promise.all(taken.map(({ port }) => errorOf(port + step)));
    if (!errors.some(Boolean)) return `Or move all ports: ${startCommand} -- --port-offset ${offset + step}`;
  }
  return `Or take any free ports, with ${taken.map(({ option, environment }) => `${option} ${environment}=0`).join(' ')}.`;
}

function reasonOf({ code }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE')
    return `is taken by another program. See which: ${listenersOf(port)}. Stop it, or choose another port:`;
  if (code === 'EACCES') return 'needs root (EACCES). Choose one from 1024 up:';
  return `cannot be listened on (${code}). Choose another:`;
}

const listenersOf = (port: number | undefined) => `lsof -nP -iTCP:${port} -sTCP:LISTEN`;

const purposeOf = ({ environment, option }: RequestedPort) =>
  `${option === '--port' ? 'API' : 'dashboard'} of environment ${environment}`;

/** How to choose a port that is not requested: from 9000 up, away from the defaults. */
function anotherPort({ port, option, environment }: RequestedPort, all: readonly RequestedPort[]): string {
  const taken = new Set(all.map((each) => each.port));
  let other = 9_000 + (port % 1_000);
  while (taken.has(other)) other += 1;
  return `${startCommand} -- ${option} ${environment}=${other} (0: any free one).`;
}
