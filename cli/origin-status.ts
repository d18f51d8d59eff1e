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
import { type Terminal, table } from './terminal';

const help = `On this machine there are neither zones nor gateways, so it shows the queues only, without the age of the oldest
message.

When AWS does not answer a call, it shows everything else, and exits with 1.

Examples:
  wallet origin-status --outputs outputs.json
  wallet origin-status --environment uae --outputs outputs.json --json`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'origin-status', {
    summary: 'show zone, addresses, gateway, consumers and waiting messages of the webhook origin',
    help,
    run: (target, options) => originStatus(target, options.json === true, terminal),
  });
}

async function originStatus(target: Target, json: boolean, terminal: Terminal): Promise<void> {
  const failures: { readonly name: string; readonly error: CommandFailed }[] = [];
  // In an emergency one service may be down: the others are asked all the same.
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
    return `unknown: ${names.join(', ')}, because ${message.replace(/\.$/, '')}`;
  });
  const faults = [...status.faults, ...unknown];
  terminal.result(
    json ? JSON.stringify({ ...status, faults }) : formatStatus(status, target.local, terminal),
  );
  for (const warning of json ? unknown : faults) terminal.note(terminal.alarm(`warning: ${warning}`));
  if (failures.length === 0) return;
  const remedies = new Set(failures.flatMap(({ error }) => error.remedy ?? []));
  throw new CommandFailed('The status is incomplete.', [...remedies].join('\n'));
}

/** Gives undefined for what cannot be read. */
type Attempt = <T>(name: string, ask: () => Promise<T>) => Promise<T | undefined>;

/** What `--json` prints: `null` for what is unknown or absent. */
async function readStatus(target: Target, attempt: Attempt) {
  const { name, stackId } = target.environment;
  const clients = target.local ? undefined : await openOrigin(target);
  const [stack, resources] = await Promise.all([
    clients &&
      attempt('status and zone of the stack', () => readOriginStack(clients.cloudFormation, stackId)),
    clients && attempt('gateway, consumers, queues', () => listResources(clients.cloudFormation, stackId)),
  ]);
  const address = stack ? addressAt(stack) : target.output('WebhookOriginAddress');
  const [gateway, consumers, queues] = await Promise.all([
    clients && resources && attempt('gateway', () => readGateway(clients, resources)),
    clients && resources && attempt('consumers', () => readConsumers(clients, resources)),
    (!clients || resources) && readQueues(target, resources, attempt),
    clients && attempt('Elastic IP', () => requireElasticIp(clients, address)),
  ]);
  const faults = stack ? findFaults({ gateway, consumers, resources }, stack) : [];
  if (stack?.reserve)
    faults.push(
      `webhooks come from the reserve address ${stack.reserveAddress}, not from ${stack.address}: "A zone is gone" in docs/runbook.md`,
    );
  return {
    environment: name,
    stack: stackId,
    stackStatus: stack?.status ?? null,
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
}

/** The stack's queues, dead-letter queues included. @param resources absent on this machine */
async function readQueues(target: Target, resources: readonly StackResource[] | undefined, attempt: Attempt) {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const client = new SQS({ ...target.clientSettings('sqs'), maxAttempts: 8 });
  const findByName = async () => {
    const prefix = `${target.environment.stackId}-`;
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
    const [attributes, oldest] = await Promise.all([
      attempt(`messages in ${name}`, () =>
        callAws(target, 'sqs:GetQueueAttributes', (options) =>
          client.getQueueAttributes({ QueueUrl: url, AttributeNames: ['All'] }, options),
        ),
      ),
      target.local ? undefined : attempt(`age of the oldest in ${name}`, () => ageOfOldest(target, url)),
    ]);
    const count = (...states: readonly ('' | 'NotVisible' | 'Delayed')[]) =>
      attributes
        ? states.reduce(
            (sum, state) => sum + Number(attributes.Attributes?.[`ApproximateNumberOfMessages${state}`]),
            0,
          )
        : null;
    return {
      name,
      /** Messages that a consumer would get now. */
      waiting: count(''),
      /** Messages that a consumer has, or that wait for their next attempt. */
      later: count('NotVisible', 'Delayed'),
      /** Seconds. */
      oldest: oldest ?? null,
    };
  };
  return queues && Promise.all(queues.map(readQueue));
}

/**
 * In seconds. Only CloudWatch has it, some minutes late.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
async function ageOfOldest(target: Target, url: string): Promise<number | undefined> {
  const { CloudWatch } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatch({ ...target.clientSettings('cloudwatch'), maxAttempts: 8 });
  const now = Date.now();
  const request = {
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateAgeOfOldestMessage',
    Dimensions: [{ Name: 'QueueName', Value: nameOf(url) }],
    StartTime: new Date(now - 10 * 60_000),
    EndTime: new Date(now),
    Period: 60,
    Statistics: ['Maximum' as const],
  };
  const { Datapoints = [] } = await ask(client, 'getMetricStatistics', request);
  return Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp)).at(-1)?.Maximum;
}

const nameOf = (url: string): string => url.split('/').at(-1) ?? '';

function formatStatus(
  status: Awaited<ReturnType<typeof readStatus>>,
  local: boolean,
  { bold }: Terminal,
): string {
  const { address, reserve, zone, availabilityZone, gateway, consumers } = status;
  const missing = local ? 'not on this machine' : 'unknown';
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
  const queues = status.queues?.map(({ name, waiting, later, oldest }) => [
    name,
    String(waiting ?? 'unknown'),
    String(later ?? 'unknown'),
    waiting === 0 && later === 0 ? '' : oldest === null ? 'unknown' : formatDuration(oldest),
  ]);
  return [
    ...facts,
    '',
    queues ? table([['QUEUE', 'WAITING', 'LATER', 'OLDEST'], ...queues], bold) : 'queues        unknown',
  ].join('\n');
}

/** Seconds, as `5 min` or `2 h 14 min`. */
function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
