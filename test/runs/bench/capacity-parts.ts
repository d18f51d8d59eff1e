import { idleLimit, maxIdle } from '../../../lambda/deliver-webhook/kept-connections';
import {
  assumed,
  deletionMs,
  deliveryInPostgresMs,
  fanOutMs,
  hiddenMs,
  measured,
  perSecond,
  processors,
  purgedPerSecond,
  quotas,
  regional,
  type Settings,
} from './capacity';

/** What one part of a region carries. */
export interface Part {
  readonly name: string;
  /** Our own setting. @default false: AWS's quota, or a property of the code */
  readonly own?: boolean;
  /** Only if receivers, or their webhooks, are as the name says. @default false */
  readonly atWorst?: boolean;
  /** The most a second; `undefined` where the region has no such part. */
  readonly limit: (settings: Settings) => number | undefined;
  /** What sets the limit. */
  readonly because: string;
  readonly source: string;
  /** What raises it. */
  readonly change: string;
}

const ec2 = 'https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html';
const lambda = 'https://docs.aws.amazon.com/lambda/latest/dg';
const aurora = 'https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide';
const template = 'template';

export const deletionParts: readonly Part[] = [
  {
    name: 'API throttle',
    own: true,
    limit: ({ throttle }) => throttle,
    because: '`throttle` of the row',
    source: template,
    change: '`throttle` in `lib/environments.ts`',
  },
  {
    name: 'API quota of the account',
    limit: ({ region }) => regional(quotas.apiRequests, region),
    because: '10,000 a second; 2,500 in newer regions such as me-central-1',
    source: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
    change: 'ask AWS',
  },
  {
    name: 'Lambda requests',
    limit: () => (quotas.lambdaConcurrency * quotas.lambdaRequests) / 2,
    because:
      'ten a second for each unit of concurrency; a deletion is two, without the cache of the authorizer',
    source: `${lambda}/lambda-concurrency.html`,
    change: 'ask AWS for concurrency',
  },
  {
    name: 'Lambda concurrency',
    limit: (settings) =>
      (1_000 * (quotas.lambdaConcurrency - settings.deliveries - settings.events)) /
      (assumed.authorizer + deletionMs(settings)),
    because: '1,000 for all functions; those of the queues may take theirs',
    source: `${lambda}/gettingstarted-limits.html`,
    change: 'ask AWS',
  },
  {
    name: 'Aurora capacity',
    limit: (settings) => (1_000 * processors(settings)) / measured.deletionInPostgres[settings.access],
    because: 'capacity units of the row, four to a processor; deletions alone',
    source: `${aurora}/aurora-serverless-v2.setting-capacity.html`,
    change: '`database.capacity.maximum`, up to 256',
  },
  {
    name: 'Aurora connections',
    limit: (settings) =>
      settings.access === 'direct' ? (1_000 * quotas.auroraConnections) / deletionMs(settings) : undefined,
    because: '5,000 from 32 capacity units on, if the minimum is 1 or more; one for each instance',
    source: `${aurora}/aurora-serverless-v2.setting-capacity.html`,
    change: 'RDS Proxy',
  },
];

export const deliveryParts: readonly Part[] = [
  {
    name: 'SQS in flight, all failing',
    atWorst: true,
    limit: () => (1_000 * quotas.sqsInFlight) / hiddenMs(),
    because: '120,000 messages; one that fails is hidden through its first retries. Then nothing is received',
    source: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html',
    change: 'send a delayed copy for shorter waits too (`queue-retry.ts`)',
  },
  {
    name: 'Purge of the delivery log',
    limit: purgedPerSecond,
    because: 'a mean of the day: what the daily purge deletes in its time; more, and the log grows',
    source: '`lambda/purge-expired`',
    change: 'purge every hour; partitions by day',
  },
  {
    name: 'Delivery concurrency',
    own: true,
    limit: (settings) => perSecond(settings, settings.deliveries),
    because: '`MaximumConcurrency` and batch size; a batch lasts as long as its slowest receiver',
    source: template,
    change: '`concurrency` in `lib/webhooks/webhooks.ts`, up to 1,000',
  },
  {
    name: 'NAT ports, one receiver, new connections',
    atWorst: true,
    limit: ({ addresses }) =>
      (1_000 * quotas.natPorts * addresses) / (assumed.receiver + idleLimit + quotas.natPortReuse),
    because: '55,000 for each destination; a port rests a minute after its connection',
    source: ec2,
    change: 'keep connections; see below',
  },
  {
    name: 'Fan-out concurrency',
    own: true,
    limit: (settings) => (1_000 * settings.events * settings.batchSize) / fanOutMs(settings),
    because: '`MaximumConcurrency`; with one webhook for each event',
    source: template,
    change: '`concurrency` in `lib/webhooks/webhooks.ts`',
  },
  {
    name: 'DNS questions',
    limit: ({ subnets }) => subnets * quotas.resolverPackets,
    because:
      '1,024 packets a second for each network interface; each attempt asks. That Lambda has one interface a subnet is inferred',
    source: 'https://docs.aws.amazon.com/vpc/latest/userguide/vpc-dns.html',
    change: 'one question for each name and batch; more subnets',
  },
  {
    name: 'NAT ports, one receiver, kept connections',
    atWorst: true,
    limit: (settings) =>
      perSecond(settings, (quotas.natPorts * settings.addresses) / (settings.batchSize + maxIdle)),
    because: '55,000 for each destination; an instance holds its batch and what it keeps',
    source: ec2,
    change: 'keep fewer',
  },
  {
    name: 'KMS requests, no secret in memory',
    atWorst: true,
    limit: ({ region }) => regional(quotas.kmsRequests, region),
    because: '10,000 a second; 20,000 in eu-central-1. An instance remembers 1,000 secrets',
    source: 'https://docs.aws.amazon.com/kms/latest/developerguide/requests-per-second.html',
    change: 'remember more; ask AWS',
  },
  {
    name: 'Lambda concurrency',
    limit: (settings) => perSecond(settings, quotas.lambdaConcurrency - settings.events),
    because: '1,000 for all functions, and for one queue',
    source: `${lambda}/services-sqs-scaling.html`,
    change: 'ask AWS; a second queue',
  },
  {
    name: 'Aurora capacity',
    limit: (settings) => (1_000 * processors(settings)) / deliveryInPostgresMs,
    because: 'as above; deliveries alone, in full batches',
    source: `${aurora}/aurora-serverless-v2.setting-capacity.html`,
    change: '`database.capacity.maximum`',
  },
  {
    name: 'Aurora connections',
    limit: (settings) =>
      settings.access === 'direct' ? perSecond(settings, quotas.auroraConnections) : undefined,
    because: 'as above',
    source: `${aurora}/aurora-serverless-v2.setting-capacity.html`,
    change: 'RDS Proxy',
  },
  {
    name: 'NAT ports, one AWS endpoint',
    limit: (settings) => perSecond(settings, (quotas.natPorts * settings.addresses) / settings.batchSize),
    because: '55,000 for each destination; an instance keeps one connection for each delivery at most',
    source: ec2,
    change: 'interface endpoints',
  },
  {
    name: 'NAT bandwidth and packets',
    limit: ({ access }) =>
      Math.min(
        quotas.natBitsPerSecond / 8 / assumed.deliveryBytes[access],
        quotas.natPackets / assumed.deliveryPackets,
      ),
    because: '100 Gbit/s and ten million packets a second, scaled from 5 and one; 20 packets a delivery',
    source: ec2,
    change: 'interface endpoints; smaller events',
  },
];

/** What today's settings let through a second: the smallest of our own limits. */
export const today = (parts: readonly Part[], settings: Settings): number =>
  Math.min(...parts.flatMap(({ own, limit }) => (own ? (limit(settings) ?? []) : [])));

/** The other parts that break at so many times today's rate, the first one first. */
export function breaking(parts: readonly Part[], settings: Settings, times: number): readonly Part[] {
  const rate = times * today(parts, settings);
  return parts
    .map((part) => ({ part, limit: part.limit(settings) ?? Number.POSITIVE_INFINITY }))
    .filter(({ part, limit }) => !part.own && limit < rate)
    .sort((a, b) => a.limit - b.limit)
    .map(({ part }) => part);
}
