import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './start-error';

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

/** Where `./wallet local receive` listens by default. */
export const receiverUrl = (ports: Ports): string =>
  `http://127.0.0.1:${8010 + (ports === 'any' ? 0 : ports.offset)}/`;

/**
 * @param names of all serving environments, in order
 * @param chosen those that start. @default - all
 * @throws StartError listing the ports in use and an offset with free ports
 */
export async function requireFreePorts(
  names: readonly string[],
  chosen: readonly string[] | undefined,
  ports: Ports,
): Promise<void> {
  if (ports === 'any') return;
  const { offset } = ports;
  const wanted = names.flatMap((name, position) =>
    chosen?.includes(name) === false
      ? []
      : Object.keys(firstPorts).map((stageName) => portOf(stageName, position, ports)),
  );
  const taken = await takenPorts(wanted);
  if (taken.length === 0) return;
  const problems = taken.map(
    (port) => `Port ${port} is in use. Find the program: lsof -nP -iTCP:${port} -sTCP:LISTEN`,
  );
  for (let next = offset + 1_000; next <= highestOffset; next += 1_000) {
    if ((await takenPorts(wanted.map((port) => port - offset + next))).length > 0) continue;
    problems.push(`Use other ports: npm start -- --port-offset ${next}`);
    break;
  }
  throw new StartError(problems.join('\n'));
}

async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const areFree = await Promise.all(
    ports.map(async (port) => {
      const server = createServer();
      const isFree = await once(server.listen(port, '127.0.0.1'), 'listening').catch(() => undefined);
      if (isFree) await new Promise((closed) => server.close(closed));
      return isFree !== undefined;
    }),
  );
  return ports.filter((_, index) => !areFree[index]);
}
