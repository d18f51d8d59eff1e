import { createServer } from 'node:http';
import { listen } from './loopback-server';

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
 * @throws (rejects) StartError for a port in use
 */
export async function requireFreePorts(
  names: () => readonly string[],
  ports: Ports,
  chosen?: readonly string[],
): Promise<void> {
  if (ports === 'any') return;
  for (const [position, name] of names().entries())
    for (const stageName of chosen?.includes(name) === false ? [] : Object.keys(firstPorts))
      await (await listen(createServer(), portOf(stageName, position, ports))).close();
}
