import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './state';

/** Any free ports, or the usual ones plus the offset. */
export type Ports = 'any' | { readonly offset: number };

/** The port in the first environment, by the name of the API's stage. The next environment has the next one. */
const firstPorts: Readonly<Record<string, number>> = { api: 8001, dashboard: 8101 };

/** The highest offset with which all ports of ten environments exist. */
export const highestOffset = 65_535 - 8_110;

/**
 * The port of an API; 0 for any free one.
 *
 * @param position of the environment among all that serve, from 0: an environment that runs alone has its usual ports
 */
export function portOf(stageName: string, position: number, ports: Ports): number {
  const first = firstPorts[stageName];
  return ports === 'any' || first === undefined ? 0 : first + position + ports.offset;
}

/** @throws StartError that names the ports that are not free, and an offset at which all are */
export async function requireFreePorts(ports: readonly number[], offset: number): Promise<void> {
  const errors = await Promise.all(ports.map(listenError));
  const problems = errors.flatMap((error, index) => {
    const port = ports[index];
    if (error === undefined) return [];
    return error === 'EADDRINUSE'
      ? `Port ${port} is taken by another program. See which: lsof -nP -iTCP:${port} -sTCP:LISTEN`
      : `Port ${port} cannot be listened on (${error}).`;
  });
  if (problems.length === 0) return;
  for (let next = offset + 1_000; next <= highestOffset; next += 1_000) {
    const others = await Promise.all(ports.map((port) => listenError(port - offset + next)));
    if (others.some((error) => error !== undefined)) continue;
    problems.push(`Move all ports: npm start -- --port-offset ${next}`);
    break;
  }
  throw new StartError(problems.join('\n'));
}

/** The error code when a port cannot be listened on. */
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
