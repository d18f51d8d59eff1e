import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './state';

/** Any free ports, or the usual ones with this added. */
export type Ports = 'any' | { readonly offset: number };

/** By the name of the API's stage: the port in the first environment. The next environment has the next one. */
const firstPorts: Readonly<Record<string, number>> = { api: 8001, dashboard: 8101 };

/** The highest offset with which all ports of ten environments exist. */
export const highestOffset = 65_535 - 8_110;

/**
 * The port of an API; 0 for any free one.
 *
 * @param position of the environment among all that serve, from 0: an environment started alone has its usual ports
 */
export function portOf(stageName: string, position: number, ports: Ports): number {
  const first = firstPorts[stageName];
  return ports === 'any' || first === undefined ? 0 : first + position + ports.offset;
}

/** @throws StartError that names each port that cannot be listened on, and an offset at which all can */
export async function requireFreePorts(wanted: readonly number[], offset: number): Promise<void> {
  const problems = await Promise.all(wanted.map(problemOf));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length === 0) return;
  for (let next = offset + 1_000; next <= highestOffset; next += 1_000) {
    const errors = await Promise.all(wanted.map((port) => listenError(port - offset + next)));
    if (errors.every((error) => error === undefined)) {
      found.push(`Move all ports: npm start -- --port-offset ${next}`);
      break;
    }
  }
  throw new StartError(found.join('\n'));
}

async function problemOf(port: number): Promise<string | undefined> {
  const error = await listenError(port);
  if (error === undefined) return undefined;
  return error === 'EADDRINUSE'
    ? `Port ${port} is taken by another program. See which: lsof -nP -iTCP:${port} -sTCP:LISTEN`
    : `Port ${port} cannot be listened on (${error}).`;
}

/** Why a port cannot be listened on: the error's code. Undefined when it can. */
async function listenError(port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
  server.close();
  await once(server, 'close');
  return undefined;
}
