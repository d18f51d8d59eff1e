import type { Command } from 'commander';
import { CommandFailed } from '../failure';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import { type Terminal, table } from '../terminal';
import {
  addressAt,
  describeStack,
  faultsOf,
  listResources,
  noZone,
  openOriginClients,
  readConsumers,
  readGateway,
  requireAddress,
} from './origin';
import { readQueues } from './queues';

const help = `
On this machine there are neither zones nor gateways, so it shows the queues only, without the age of the oldest
message.

When AWS does not answer something, it shows all else, and exits with 1.

Examples:
  wallet origin-status --outputs outputs.json
  wallet origin-status --environment uae --outputs outputs.json --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('origin-status'))
    .summary('show where the webhook origin is and what waits')
    .description('Shows zone, addresses, gateway, consumers and waiting messages of the webhook origin.')
    .addHelpText('after', help)
    .action((options: CommonOptions) => originStatus(options, terminal));
}

async function originStatus(options: CommonOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const { status, unknown } = await readStatus(target);
  const reasons = [...new Set(unknown.map(({ error }) => error.message))].map((reason) => {
    const names = unknown.filter(({ error }) => error.message === reason).map(({ name }) => name);
    return `unknown: ${names.join(', ')}, because ${reason.replace(/\.$/, '')}`;
  });
  const faults = [...status.faults, ...reasons];
  terminal.result(
    options.json ? JSON.stringify({ ...status, faults }) : formatStatus(status, target, terminal),
  );
  for (const warning of options.json ? reasons : faults) terminal.note(terminal.alarm(`warning: ${warning}`));
  if (unknown.length > 0) {
    const remedies = new Set(unknown.flatMap(({ error }) => error.remedy ?? []));
    throw new CommandFailed('Not everything could be learned.', [...remedies].join('\n'));
  }
}

/** Every service is asked even when another fails: in an emergency, one of them may be down. */
async function readStatus(target: Target) {
  const unknown: { readonly name: string; readonly error: CommandFailed }[] = [];
  const learn = async <T>(name: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      unknown.push({ name, error });
      return undefined;
    }
  };
  const { name, stackId } = target.environment;
  const isDeployed = target.offers('cloudformation');
  const clients = isDeployed ? await openOriginClients(target) : undefined;
  const [stack, resources] = await Promise.all([
    clients && learn('status and zone of the stack', () => describeStack(clients)),
    clients && learn('gateway, consumers, queues', () => listResources(clients)),
  ]);
  const address = stack ? addressAt(stack) : target.output('WebhookOriginAddress');
  const [gateway, consumers, queues] = await Promise.all([
    clients && resources && learn('gateway', () => readGateway(clients, resources)),
    clients && resources && learn('consumers', () => readConsumers(clients, resources)),
    (!isDeployed || resources) && readQueues(target, resources, learn),
    clients && learn('Elastic IP', () => requireAddress(clients, address)),
  ]);
  const faults = stack ? faultsOf({ gateway, consumers, resources }, { zone: stack.zone, address }) : [];
  if (stack?.reserve)
    faults.push(
      `webhooks come from the reserve address ${stack.reserveAddress}, not from ${stack.address}: "A zone is gone" in docs/runbook.md`,
    );
  /** What `--json` prints. `null` stands for what is unknown or absent. */
  const status = {
    environment: name,
    stack: stackId,
    stackStatus: stack?.status ?? null,
    /** The one address. */
    address: stack?.address ?? target.output('WebhookOriginAddress'),
    reserve: stack?.reserveAddress ? { address: stack.reserveAddress, inUse: stack.reserve } : null,
    /** A zone's number, or `none`. */
    zone: stack?.zone ?? null,
    availabilityZone: gateway?.availabilityZone ?? null,
    gateway: gateway ? { id: gateway.id, state: gateway.state } : null,
    consumers: consumers ?? null,
    queues: queues || null,
    faults,
  };
  return { status, unknown };
}

type Status = Awaited<ReturnType<typeof readStatus>>['status'];

function formatStatus(status: Status, target: Target, { bold }: Terminal): string {
  const { address, reserve, zone, availabilityZone, gateway, consumers } = status;
  const missing = target.offers('cloudformation') ? 'unknown' : 'not on this machine';
  const facts = [
    ['environment', status.environment],
    ['stack', [status.stack, status.stackStatus].filter(Boolean).join(', ')],
    ['address', `${address}${reserve?.inUse ? ', not in use' : ''}`],
    ...(reserve ? [['reserve', `${reserve.address}, ${reserve.inUse ? 'in use' : 'not in use'}`]] : []),
    ['zone', zone ? `${zone}${availabilityZone ? ` (${availabilityZone})` : ''}` : missing],
    ['gateway', gateway ? `${gateway.id}, ${gateway.state}` : zone === noZone ? 'none' : missing],
    ...(consumers?.map(({ functionName, state }) => ['consumer', `${functionName}, ${state}`]) ?? [
      ['consumers', missing],
    ]),
  ].map(([name = '', value = '']) => `${name.padEnd(12)}  ${value}`);
  const backlog = status.queues?.map(({ name, waiting, later, oldest }) => [
    name,
    String(waiting ?? 'unknown'),
    String(later ?? 'unknown'),
    waiting === 0 && later === 0 ? '' : oldest === null ? 'unknown' : formatDuration(oldest),
  ]);
  const queues = backlog
    ? table([['QUEUE', 'WAITING', 'LATER', 'OLDEST'], ...backlog], bold)
    : 'queues        unknown';
  return [...facts, '', queues].join('\n');
}

/** Seconds, in the largest two units: `5 s`, `3 min 5 s`, `2 h 14 min`, `1 d 2 h`. */
function formatDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
