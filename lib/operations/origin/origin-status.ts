import type { Command } from 'commander';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import { type Terminal, table } from '../terminal';
import { openOriginApis } from './apis';
import { faultsOf, readOriginState } from './origin-state';
import { type QueueBacklog, readQueues } from './queues';
import { describeStack } from './stack';

const help = `
On this machine there are neither zones nor gateways, so it tells the queues alone, without the age of the oldest
message.

It needs cloudformation:DescribeStacks and ListStackResources on the stack, ec2:DescribeAddresses,
DescribeNatGateways and DescribeSubnets, lambda:GetEventSourceMapping, sqs:GetQueueAttributes, and
cloudwatch:GetMetricStatistics.

Examples:
  wallet origin-status --outputs outputs.json
  wallet origin-status --environment uae --outputs outputs.json --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('origin-status'))
    .summary('tell where the webhook origin stands and what waits')
    .description('Tells zone, address, gateway, consumers and waiting messages of the webhook origin.')
    .addHelpText('after', help)
    .action((options: CommonOptions) => originStatus(options, terminal));
}

async function originStatus(options: CommonOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options);
  const status = target.offers('cloudformation') ? await deployedStatus(target) : await localStatus(target);
  if (options.json) return terminal.result(JSON.stringify(status));
  terminal.result(inWords(status, terminal));
  for (const fault of status.faults) terminal.note(terminal.alarm(`warning: ${fault}`));
}

/** What `--json` prints. `null` stands for what is not known, or not there. */
interface Status {
  readonly environment: string;
  readonly stack: string;
  readonly stackStatus: string | null;
  readonly address: string;
  /** A zone's number, or `none`. */
  readonly zone: string | null;
  readonly availabilityZone: string | null;
  readonly gateway: { readonly id: string; readonly state: string } | null;
  readonly consumers: readonly { functionName: string; queueName: string; state: string }[] | null;
  /** `oldest` is in seconds. */
  readonly queues: readonly (Omit<QueueBacklog, 'oldest'> & { readonly oldest: number | null })[];
  /** What is not as it should be. */
  readonly faults: readonly string[];
}

async function deployedStatus(target: Target): Promise<Status> {
  const apis = await openOriginApis(target);
  const stack = await describeStack(apis);
  const state = await readOriginState(apis, stack);
  const { gateway, consumers, resources } = state;
  return {
    environment: target.environment.name,
    stack: stack.name,
    stackStatus: stack.status,
    address: stack.address,
    zone: stack.zone,
    availabilityZone: gateway?.availabilityZone ?? null,
    gateway: gateway ? { id: gateway.id, state: gateway.state } : null,
    consumers,
    queues: (await readQueues(target, resources)).map(orNull),
    faults: faultsOf(state, stack.zone),
  };
}

async function localStatus(target: Target): Promise<Status> {
  return {
    environment: target.environment.name,
    stack: target.environment.stackId,
    stackStatus: null,
    address: target.output('WebhookOriginAddress'),
    zone: null,
    availabilityZone: null,
    gateway: null,
    consumers: null,
    queues: (await readQueues(target, undefined)).map(orNull),
    faults: [],
  };
}

const orNull = (queue: QueueBacklog) => ({ ...queue, oldest: queue.oldest ?? null });

function inWords(status: Status, terminal: Terminal): string {
  const { environment, stack, stackStatus, address, zone, availabilityZone, gateway, consumers } = status;
  const notHere = 'not on this machine';
  const facts = [
    ['environment', environment],
    ['stack', `${stack}${stackStatus ? `, ${stackStatus}` : ''}`],
    ['address', address],
    ['zone', zone ? `${zone}${availabilityZone ? ` (${availabilityZone})` : ''}` : notHere],
    ['gateway', gateway ? `${gateway.id}, ${gateway.state}` : zone ? 'none' : notHere],
    ...(consumers?.map(({ functionName, state }) => ['consumer', `${functionName}, ${state}`]) ?? []),
  ];
  const backlog = status.queues.map(({ name, waiting, later, oldest }) => [
    name,
    String(waiting),
    String(later),
    waiting + later === 0 ? '' : oldest === null ? 'unknown' : duration(oldest),
  ]);
  return [
    ...facts.map(([name = '', value = '']) => `${name.padEnd(12)}  ${value}`),
    '',
    table([['QUEUE', 'WAITING', 'LATER', 'OLDEST'], ...backlog], terminal.bold),
  ].join('\n');
}

/** Seconds, in the largest two units: `5 s`, `3 min 5 s`, `2 h 14 min`, `1 d 2 h`. */
function duration(seconds: number): string {
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
