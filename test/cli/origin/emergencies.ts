import type { LocalCloud } from '../../support/local-cloudformation';
import { first } from '../../support/rows';
import { type deploy, moveOrigin } from './deployed';

/** A state of a dying gateway, and the move out of it. */
export interface Emergency {
  readonly row?: Parameters<typeof deploy>[0];
  /** Brings it about, in a deployment in zone 1. */
  arrange(cloud: LocalCloud): void | Promise<void>;
  /** The move that ends well, whatever happens to it on the way. */
  readonly move: readonly string[];
  /** The zone that it ends in, and the address. @default zone 2, the one address */
  readonly zone?: string;
  readonly address?: string;
}

export const hours = 60 * 60_000;
export const addresses = { one: '203.0.113.7', reserve: '203.0.113.8' };
export const withReserve = { webhookOrigin: { reserve: true } } as const;

/** The zone with that number is gone, for milliseconds. */
export function dies(cloud: LocalCloud, zone: 1 | 2 | 3, duration: number): void {
  cloud.account.deadZones.set(first.zones[zone - 1] ?? '', cloud.stack.now + duration);
}

const gateway = { type: 'AWS::EC2::NatGateway', reason: 'The NAT gateway could not be deleted' } as const;
const consumer = { type: 'AWS::Lambda::EventSourceMapping', action: 'UPDATE' } as const;

/** Fails at the three attempts of a cleanup. */
export const undeletable = [gateway, gateway, gateway].map(
  (failure) => ({ ...failure, action: 'DELETE' }) as const,
);

const patient = ['--yes', '--timeout', '24h'];

export const emergencies: Readonly<Record<string, Emergency>> = {
  'a deletion that ends hours later': {
    arrange: (cloud) => dies(cloud, 1, 2.5 * hours),
    move: ['--zone', '2', ...patient],
  },
  'a deletion that fails three times': {
    arrange: ({ stack }) => void stack.plannedFailures.push(...undeletable),
    move: ['--zone', '2', ...patient],
  },
  'a deletion that outlasts CloudFormation': {
    arrange: (cloud) => dies(cloud, 1, 5 * hours),
    move: ['--zone', '3', ...patient],
    zone: '3',
  },
  'a creation that hangs, in the zone that was chosen first': {
    arrange: async (cloud) => {
      dies(cloud, 2, 1 * hours);
      await moveOrigin(cloud, '--zone', '2', '--yes', '--timeout', '20m');
    },
    move: ['--zone', '3', ...patient],
    zone: '3',
  },
  'a rollback that failed': {
    row: { databaseAccess: 'direct' },
    arrange: async (cloud) => {
      // The second consumer cannot be switched off, then the first not on again.
      const fanOut = { ...consumer, logicalId: /FanOut/, reason: 'busy' };
      const deliver = { ...consumer, logicalId: /Deliver/, reason: 'busy', inRollback: true };
      cloud.stack.plannedFailures.push(fanOut, deliver);
      await moveOrigin(cloud, '--zone', '2', '--yes', '--timeout', '1h');
    },
    move: ['--zone', '1', ...patient],
    zone: '1',
  },
  'a dead zone, with a reserve': {
    row: withReserve,
    arrange: (cloud) => dies(cloud, 1, 10 * hours),
    move: ['--zone', '2', '--reserve', ...patient],
    address: addresses.reserve,
  },
  'the one address is free again': {
    row: withReserve,
    arrange: async (cloud) => {
      dies(cloud, 1, 5 * hours);
      await moveOrigin(cloud, '--zone', '2', '--reserve', '--yes', '--timeout', '1h');
      cloud.stack.settle();
    },
    move: ['--zone', '2', ...patient],
  },
};
