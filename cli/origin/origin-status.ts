import type { CloudWatch } from '@aws-sdk/client-cloudwatch';
import type { Command } from 'commander';
import { callAws } from '../shell/aws';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { environmentCommand } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { columns, type Terminal, table } from '../shell/terminal';
import { addressAt, noZone, openOrigin, readOrigin, requireElasticIp, type Tolerant } from './read-origin';

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'origin-status', {
    summary: "show the webhook origin's zone, addresses, gateway, consumers and queued messages",
    help: `For deployed environments. If a call to AWS fails, it shows everything else and exits with 1; also without a gateway, when no
webhooks are sent.`,
    async run(target, { json }, print) {
      const failures = new Map<string, CommandFailed>();
      // Collects partial failures: in an emergency one service may be down.
      const status = await readStatus(target, async (read) => {
        try {
          return await read();
        } catch (error) {
          if (!(error instanceof CommandFailed)) throw error;
          failures.set(error.message, error);
          return undefined;
        }
      });
      const unknown = [...failures.keys()].map((message) => `unknown: ${message}`);
      const faults = [...status.faults, ...unknown];
      print({ ...status, faults }, () => formatStatus(status, terminal));
      for (const warning of json ? unknown : faults) terminal.note(terminal.alarm(`warning: ${warning}`));
      const remedies = new Set([...failures.values()].flatMap(({ remedy }) => remedy ?? []));
      if (failures.size > 0) throw new CommandFailed('The status is incomplete.', [...remedies].join('\n'));
      if (status.gateway === null) {
        const zones = target.environment.zones.map((_, index) => `${index + 1}`);
        const zone = zones.find((each) => each !== status.zone);
        throw new CommandFailed(
          'No webhooks are sent.',
          `Attach the origin to zone ${zone}, or another of ${zones.join(', ')}: ${target.walletCommand(`move-origin --zone ${zone}${status.reserve?.inUse ? ' --reserve' : ''} --yes`)}`,
        );
      }
    },
  });
}

/** The output of `--json`: `null` is unknown or absent. */
async function readStatus(target: DeployedEnvironment, attempt: Tolerant) {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const { CloudWatch } = await import('@aws-sdk/client-cloudwatch');
  const { name, stackId } = target.environment;
  const clients = await openOrigin(target);
  const sqs = new SQS({ ...target.clientSettings('sqs'), maxAttempts: 8 });
  const cloudWatch = new CloudWatch({ ...target.clientSettings('cloudwatch'), maxAttempts: 8 });
  const readQueue = async (logicalId: string, url: string) => {
    const [counts, oldest] = await Promise.all([
      attempt(() => callAws(sqs, 'getQueueAttributes', { QueueUrl: url, AttributeNames: ['All'] })),
      attempt(() => ageOfOldest(cloudWatch, url.split('/').at(-1) ?? '')),
    ]);
    const count = (state: '' | 'NotVisible' | 'Delayed') =>
      Number(counts?.Attributes?.[`ApproximateNumberOfMessages${state}`]);
    return {
      name: logicalId,
      /** Visible to consumers. */
      waiting: counts ? count('') : null,
      /** Messages in flight, or delayed until the next attempt. */
      later: counts ? count('NotVisible') + count('Delayed') : null,
      /** Seconds. */
      oldest: oldest ?? null,
    };
  };
  const { stack, resources, gateway, consumers, faults } = await readOrigin(clients, attempt);
  const address = stack?.address ?? target.output('WebhookOriginAddress');
  const [queues] = await Promise.all([
    resources &&
      Promise.all(
        resources
          .filter(({ type }) => type === 'AWS::SQS::Queue')
          .map(({ logicalId, physicalId }) => readQueue(logicalId, physicalId)),
      ),
    attempt(() => requireElasticIp(clients, stack ? addressAt(stack) : address)),
  ]);
  const inUse = `webhooks come from the reserve address ${stack?.reserveAddress}, not from ${stack?.address}: "A zone is gone" in docs/runbook/emergencies.md`;
  return {
    environment: name,
    stack: stackId,
    stackStatus: stack?.status ?? null,
    address,
    reserve: stack?.reserveAddress ? { address: stack.reserveAddress, inUse: stack.reserve } : null,
    /** A zone's number, or `none`. */
    zone: stack?.zone ?? null,
    availabilityZone: gateway?.availabilityZone ?? null,
    gateway: gateway ? { id: gateway.id, state: gateway.state } : null,
    consumers: consumers ?? null,
    queues: queues ?? null,
    faults: [...faults, ...(stack?.reserve ? [inUse] : [])],
  };
}

/**
 * Seconds. Only CloudWatch has it, with some minutes' delay.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
async function ageOfOldest(client: CloudWatch, queueName: string): Promise<number | undefined> {
  const { Datapoints = [] } = await callAws(client, 'getMetricStatistics', {
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateAgeOfOldestMessage',
    Dimensions: [{ Name: 'QueueName', Value: queueName }],
    StartTime: new Date(Date.now() - 10 * 60_000),
    EndTime: new Date(),
    Period: 60,
    Statistics: ['Maximum'],
  });
  return Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp)).at(-1)?.Maximum;
}

function formatStatus(status: Awaited<ReturnType<typeof readStatus>>, terminal: Terminal): string {
  const { stackStatus, address, reserve, zone, availabilityZone, gateway, consumers, queues } = status;
  const facts = [
    ['environment', status.environment],
    ['stack', stackStatus ? `${status.stack}, ${stackStatus}` : status.stack],
    ['address', `${address}${reserve?.inUse ? ', not in use' : ''}`],
    ...(reserve ? [['reserve', `${reserve.address}, ${reserve.inUse ? 'in use' : 'not in use'}`]] : []),
    ['zone', zone ? `${zone}${availabilityZone ? ` (${availabilityZone})` : ''}` : 'unknown'],
    ['gateway', gateway ? `${gateway.id}, ${gateway.state}` : zone === noZone ? 'none' : 'unknown'],
    ...(consumers ?? []).map(({ functionName, queueName, state }) => [
      'consumer',
      `${functionName} of ${queueName}, ${state}`,
    ]),
  ];
  const rows = (queues ?? []).map(({ name, waiting, later, oldest }) => [
    name,
    String(waiting ?? 'unknown'),
    String(later ?? 'unknown'),
    waiting === 0 && later === 0 ? '' : oldest === null ? 'unknown' : `${Math.floor(oldest / 60)} min`,
  ]);
  return `${columns(facts).join('\n')}\n\n${table([['QUEUE', 'WAITING', 'LATER', 'OLDEST'], ...rows], terminal)}`;
}
