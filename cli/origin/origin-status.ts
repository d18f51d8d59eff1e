import type { Command } from 'commander';
import { CommandFailed } from '../failure';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import { type Terminal, table } from '../terminal';
import { openOriginApis } from './apis';
import { readConsumers } from './consumers';
import { readAddress, readGateway } from './gateway';
import { createInquiry, type Inquiry } from './inquiry';
import { faultsOf } from './origin-state';
import { readQueues } from './queues';
import { addressAt, describeStack, listResources } from './stack';

const help = `
On this machine there are neither zones nor gateways, so it tells the queues alone, without the age of the oldest
message.

It needs cloudformation:DescribeStacks and ListStackResources on the stack, ec2:DescribeAddresses,
DescribeNatGateways and DescribeSubnets, lambda:GetEventSourceMapping, sqs:GetQueueAttributes, and
cloudwatch:GetMetricStatistics. When one of them does not answer, it tells all else, and exits with 1.

Examples:
  wallet origin-status --outputs outputs.json
  wallet origin-status --environment uae --outputs outputs.json --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('origin-status'))
    .summary('tell where the webhook origin stands and what waits')
    .description('Tells zone, addresses, gateway, consumers and waiting messages of the webhook origin.')
    .addHelpText('after', help)
    .action((options: CommonOptions) => originStatus(options, terminal));
}

async function originStatus(options: CommonOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const inquiry = createInquiry();
  const status = await readStatus(target, inquiry);
  const unknown = inquiry.unknown();
  terminal.result(options.json ? JSON.stringify(status) : inWords(status, target, terminal, inquiry));
  const warnings = options.json ? unknown : status.faults;
  for (const warning of warnings) terminal.note(terminal.alarm(`warning: ${warning}`));
  if (unknown.length > 0)
    throw new CommandFailed('Not everything could be learned.', inquiry.remedies().join('\n'));
}

/** What `--json` prints. `null` stands for what is not known, or not there. */
async function readStatus(target: Target, inquiry: Inquiry) {
  const { name, stackId } = target.environment;
  const deployed = target.offers('cloudformation');
  const { stack, gateway, consumers, resources, faults } = deployed
    ? await readDeployed(target, inquiry)
    : ({ faults: [] } as Partial<Awaited<ReturnType<typeof readDeployed>>>);
  const queues = deployed && !resources ? undefined : await readQueues(target, resources, inquiry);
  return {
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
    queues: queues ?? null,
    /** What is not as it should be, and what could not be learned. */
    faults: [...(faults ?? []), ...inquiry.unknown()],
  };
}

/** Each service is asked whatever becomes of the others: in an emergency one of them may be what is down. */
async function readDeployed(target: Target, { learn }: Inquiry) {
  const apis = await openOriginApis(target);
  const [stack, resources] = await Promise.all([
    learn(['status and zone of the stack'], () => describeStack(apis)),
    learn(['gateway', 'consumers', 'queues'], () => listResources(apis)),
  ]);
  const [address, gateway, consumers] = await Promise.all([
    learn(['Elastic IP'], () =>
      readAddress(apis, stack ? addressAt(stack) : target.output('WebhookOriginAddress')),
    ),
    resources && learn(['gateway'], () => readGateway(apis, resources)),
    resources && learn(['consumers'], () => readConsumers(apis, resources)),
  ]);
  const faults = stack ? faultsOf({ address, gateway, consumers, resources }, stack.zone) : [];
  if (stack?.reserve)
    faults.push(
      `webhooks come from the reserve address ${stack.reserveAddress}, not from ${stack.address}: "A zone is gone" in docs/runbook.md`,
    );
  return { stack, gateway, consumers, resources, faults };
}

function inWords(
  status: Awaited<ReturnType<typeof readStatus>>,
  target: Target,
  terminal: Terminal,
  { misses }: Inquiry,
): string {
  const { environment, stack, stackStatus, address, reserve, zone, availabilityZone, gateway, consumers } =
    status;
  const missing = target.offers('cloudformation') ? 'unknown' : 'not on this machine';
  const noGateway = misses('gateway') ? 'unknown' : 'none';
  const facts = [
    ['environment', environment],
    ['stack', `${stack}${stackStatus ? `, ${stackStatus}` : ''}`],
    ['address', `${address}${reserve?.inUse ? ', not in use' : ''}`],
    ...(reserve ? [['reserve', `${reserve.address}, ${reserve.inUse ? 'in use' : 'not in use'}`]] : []),
    ['zone', zone ? `${zone}${availabilityZone ? ` (${availabilityZone})` : ''}` : missing],
    ['gateway', gateway ? `${gateway.id}, ${gateway.state}` : zone ? noGateway : missing],
    ...(consumers?.map(({ functionName, state }) => ['consumer', `${functionName}, ${state}`]) ?? [
      ['consumers', missing],
    ]),
  ];
  const backlog = (status.queues ?? []).map(({ name, waiting, later, oldest }) => [
    name,
    String(waiting ?? 'unknown'),
    String(later ?? 'unknown'),
    waiting === 0 && later === 0 ? '' : oldest === null ? 'unknown' : duration(oldest),
  ]);
  return [
    ...facts.map(([name = '', value = '']) => `${name.padEnd(12)}  ${value}`),
    '',
    status.queues
      ? table([['QUEUE', 'WAITING', 'LATER', 'OLDEST'], ...backlog], terminal.bold)
      : 'queues        unknown',
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
