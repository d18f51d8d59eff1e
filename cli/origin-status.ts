import type { Command } from 'commander';
import { ask, callAws } from './aws';
import { listResources, type StackResource } from './deployed-stack';
import { environmentCommand } from './environment-command';
import { CommandFailed } from './failure';
import {
  addressAt,
  findFaults,
  noZone,
  openOrigin,
  readConsumers,
  readGateway,
  readOriginStack,
  requireElasticIp,
} from './origin';
import type { Target } from './target';
import { columns, type Terminal, table } from './terminal';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'origin-status', {
    summary: "show the webhook origin's zone, addresses, gateway, consumers and queued messages",
    help: `On this machine it shows the queues only: there are no zones or gateways.
If a call to AWS fails, it shows everything else and exits with 1.`,
    async run(target, { json }, print) {
      const failures: { readonly name: string; readonly error: CommandFailed }[] = [];
      // Collects partial failures: in an emergency one service may be down.
      const status = await readStatus(target, async (name, ask) => {
        try {
          return await ask();
        } catch (error) {
          if (!(error instanceof CommandFailed)) throw error;
          failures.push({ name, error });
          return undefined;
        }
      });
      const unknown = [...new Set(failures.map(({ error }) => error.message))].map((message) => {
        const names = failures.filter(({ error }) => error.message === message).map(({ name }) => name);
        return `unknown: ${names.join(', ')}, because ${message}`;
      });
      const faults = [...status.faults, ...unknown];
      print({ ...status, faults }, () => formatStatus(status, target.local, terminal));
      for (const warning of json ? unknown : faults) terminal.note(terminal.alarm(`warning: ${warning}`));
      const remedies = new Set(failures.flatMap(({ error }) => error.remedy ?? []));
      if (failures.length > 0) throw new CommandFailed('The status is incomplete.', [...remedies].join('\n'));
    },
  });
}

/** Records a failure and returns undefined. */
type Attempt = <T>(name: string, ask: () => Promise<T>) => Promise<T | undefined>;

/** The output of `--json`: `null` is unknown or absent. */
async function readStatus(target: Target, attempt: Attempt) {
  const { name, stackId } = target.environment;
  const clients = target.local ? undefined : await openOrigin(target);
  const [stack, resources] = await Promise.all([
    clients &&
      attempt('status and zone of the stack', () => readOriginStack(clients.cloudFormation, stackId)),
    clients && attempt('gateway, consumers, queues', () => listResources(clients.cloudFormation, stackId)),
  ]);
  const address = target.output('WebhookOriginAddress');
  const [gateway, consumers, queues] = await Promise.all([
    clients && resources && attempt('gateway', () => readGateway(clients, resources)),
    clients && resources && attempt('consumers', () => readConsumers(clients, resources)),
    (!clients || resources) && readQueues(target, resources, attempt),
    clients && attempt('Elastic IP', () => requireElasticIp(clients, stack ? addressAt(stack) : address)),
  ]);
  const faults = stack ? findFaults(stack, resources, gateway, consumers) : [];
  if (stack?.reserve)
    faults.push(
      `webhooks come from the reserve address ${stack.reserveAddress}, not from ${stack.address}: "A zone is gone" in docs/runbook.md`,
    );
  return {
    environment: name,
    stack: stackId,
    stackStatus: stack?.status ?? null,
    address: stack?.address ?? address,
    reserve: stack?.reserveAddress ? { address: stack.reserveAddress, inUse: stack.reserve } : null,
    /** A zone's number, or `none`. */
    zone: stack?.zone ?? null,
    availabilityZone: gateway?.availabilityZone ?? null,
    gateway: gateway ? { id: gateway.id, state: gateway.state } : null,
    consumers: consumers ?? null,
    queues: queues || null,
    faults,
  };
}

/** The stack's queues, dead-letter queues included. @param resources absent on this machine */
async function readQueues(target: Target, resources: readonly StackResource[] | undefined, attempt: Attempt) {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const client = new SQS({ ...target.clientSettings('sqs'), maxAttempts: 8 });
  const prefix = `${target.environment.stackId}-`;
  const findByName = async () => {
    const { QueueUrls = [] } = await callAws(target, 'sqs:ListQueues', (options) =>
      client.listQueues({ QueueNamePrefix: prefix }, options),
    );
    return QueueUrls.map((url) => ({ name: nameOf(url).slice(prefix.length), url }));
  };
  const queues = resources
    ? resources
        .filter(({ type }) => type === 'AWS::SQS::Queue')
        .map(({ logicalId, physicalId }) => ({ name: logicalId, url: physicalId }))
    : await attempt('queues', findByName);
  const readQueue = async ({ name, url }: { readonly name: string; readonly url: string }) => {
    const input = { QueueUrl: url, AttributeNames: ['All' as const] };
    const [counts, oldest] = await Promise.all([
      attempt(`messages in ${name}`, () =>
        callAws(target, 'sqs:GetQueueAttributes', (options) => client.getQueueAttributes(input, options)),
      ),
      target.local ? undefined : attempt(`age of the oldest in ${name}`, () => ageOfOldest(target, url)),
    ]);
    const count = (state: '' | 'NotVisible' | 'Delayed') =>
      Number(counts?.Attributes?.[`ApproximateNumberOfMessages${state}`]);
    return {
      name,
      /** Visible to consumers. */
      waiting: counts ? count('') : null,
      /** In flight, or delayed until the next attempt. */
      later: counts ? count('NotVisible') + count('Delayed') : null,
      /** Seconds. */
      oldest: oldest ?? null,
    };
  };
  return queues && Promise.all(queues.map(readQueue));
}

/**
 * In seconds. Only CloudWatch has it, with some minutes' delay.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
async function ageOfOldest(target: Target, url: string): Promise<number | undefined> {
  const { CloudWatch } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatch({ ...target.clientSettings('cloudwatch'), maxAttempts: 8 });
  const { Datapoints = [] } = await ask(client, 'getMetricStatistics', {
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateAgeOfOldestMessage',
    Dimensions: [{ Name: 'QueueName', Value: nameOf(url) }],
    StartTime: new Date(Date.now() - 10 * 60_000),
    EndTime: new Date(),
    Period: 60,
    Statistics: ['Maximum'],
  });
  return Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp)).at(-1)?.Maximum;
}

const nameOf = (url: string): string => url.split('/').at(-1) ?? '';

function formatStatus(
  {
    environment,
    stack,
    stackStatus,
    address,
    reserve,
    zone,
    ...status
  }: Awaited<ReturnType<typeof readStatus>>,
  local: boolean,
  { bold }: Terminal,
): string {
  const { availabilityZone, gateway, consumers, queues } = status;
  const missing = local ? 'not on this machine' : 'unknown';
  const facts = [
    ['environment', environment],
    ['stack', stackStatus ? `${stack}, ${stackStatus}` : stack],
    ['address', `${address}${reserve?.inUse ? ', not in use' : ''}`],
    ...(reserve ? [['reserve', `${reserve.address}, ${reserve.inUse ? 'in use' : 'not in use'}`]] : []),
    ['zone', zone ? `${zone}${availabilityZone ? ` (${availabilityZone})` : ''}` : missing],
    ['gateway', gateway ? `${gateway.id}, ${gateway.state}` : zone === noZone ? 'none' : missing],
    ...(consumers?.map(({ functionName, state }) => ['consumer', `${functionName}, ${state}`]) ?? [
      ['consumers', missing],
    ]),
    ...(queues ? [] : [['queues', 'unknown']]),
  ];
  const rows = queues?.map(({ name, waiting, later, oldest }) => [
    name,
    String(waiting ?? 'unknown'),
    String(later ?? 'unknown'),
    waiting === 0 && later === 0 ? '' : oldest === null ? 'unknown' : formatDuration(oldest),
  ]);
  const lines = columns(facts).join('\n');
  return rows ? `${lines}\n\n${table([['QUEUE', 'WAITING', 'LATER', 'OLDEST'], ...rows], bold)}` : lines;
}

/** Seconds, as `5 min` or `2 h 14 min`. */
function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
