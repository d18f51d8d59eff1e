import type { Command } from 'commander';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import { type Terminal, table } from '../terminal';
import { openOriginApis } from './apis';
import { faultsOf, readOriginState } from './origin-state';
import { readQueues } from './queues';
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
  const target = await openTarget(options, terminal);
  const status = await readStatus(target);
  if (options.json) return terminal.result(JSON.stringify(status));
  terminal.result(inWords(status, terminal));
  for (const fault of status.faults) terminal.note(terminal.alarm(`warning: ${fault}`));
}

/** What `--json` prints. `null` stands for what is not known, or not there. */
async function readStatus(target: Target) {
  const { name, stackId } = target.environment;
  const apis = target.offers('cloudformation') ? await openOriginApis(target) : undefined;
  const stack = apis && (await describeStack(apis));
  const state = apis && stack && (await readOriginState(apis, stack));
  const { gateway, consumers, resources } = state ?? {};
  return {
    environment: name,
    stack: stackId,
    stackStatus: stack?.status ?? null,
    address: stack?.address ?? target.output('WebhookOriginAddress'),
    /** A zone's number, or `none`. */
    zone: stack?.zone ?? null,
    availabilityZone: gateway?.availabilityZone ?? null,
    gateway: gateway ? { id: gateway.id, state: gateway.state } : null,
    consumers: consumers ?? null,
    queues: await readQueues(target, resources),
    /** What is not as it should be. */
    faults: state && stack ? faultsOf(state, stack.zone) : [],
  };
}

function inWords(status: Awaited<ReturnType<typeof readStatus>>, terminal: Terminal): string {
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
