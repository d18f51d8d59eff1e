import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './state';

/** Any free ports, or the usual ones plus the offset. */
export type Ports = 'any' | { readonly offset: number };

/** Ports of the first environment, by API stage name. Each further environment adds 1. */
const firstPorts: Readonly<Record<string, number>> = { api: 8001, dashboard: 8101 };

/** Keeps all ports of ten environments below 65,536. */
export const highestOffset = 65_535 - 8_110;

/**
 * The port of an API; 0 for any free one.
 *
 * @param position among all serving environments, from 0: one that runs alone still has its usual ports
 */
export function portOf(stageName: string, position: number, ports: Ports): number {
  const first = firstPorts[stageName];
  return ports === 'any' || first === undefined ? 0 : first + position + ports.offset;
}

/** @throws StartError listing the ports in use and an offset with free ports */
export async function requireFreePorts(ports: readonly number[], offset: number): Promise<void> {
  const errors = await Promise.all(ports.map(listenError));
  const problems = errors.flatMap((error, index) => {
    const port = ports[index];
    if (error === undefined) return [];
    return error === 'EADDRINUSE'
      ? `Port ${port} is in use. Find the program: lsof -nP -iTCP:${port} -sTCP:LISTEN`
      : `Cannot listen on port ${port} (${error}).`;
  });
  if (problems.length === 0) return;
  for (let next = offset + 1_000; next <= highestOffset; next += 1_000) {
    const others = await Promise.all(ports.map((port) => listenError(port - offset + next)));
    if (others.some((error) => error !== undefined)) continue;
    problems.push(`Use other ports: npm start -- --port-offset ${next}`);
    break;
  }
  throw new StartError(problems.join('\n'));
}

/** The error code from `listen`; undefined if the port is free. */
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
