import { nextStep, retrySchedule } from '../../../lambda/deliver-webhook/next-step';
import { longestHiddenMs } from '../../../lambda/deliver-webhook/queue-retry';
import { timeout as purgeMs } from '../../../lambda/purge-expired/handler';
import { batchSize as purgeBatch } from '../../../lambda/purge-expired/purge-expired';

/** What a region's template says of its capacity. */
export interface Settings {
  readonly region: string;
  readonly access: 'data-api' | 'direct';
  /** Requests a second that the API's stage lets through. */
  readonly throttle: number;
  /** Requests that one caller's address may send in five minutes. */
  readonly requestsPerAddress: number;
  readonly batchSize: number;
  /** Batches at once: `MaximumConcurrency` of the queues' consumers. */
  readonly deliveries: number;
  readonly events: number;
  /** MiB of the functions. */
  readonly memory: Readonly<Record<'delete' | 'deliver' | 'fanOut', number>>;
  /** Subnets of the delivery function. */
  readonly subnets: number;
  /** Of the NAT gateway. */
  readonly addresses: number;
  /** Aurora capacity units of the writer, at most. */
  readonly capacityUnits: number;
}

/** Reads a serving stack's template. @throws Error when it has no such resource, or several */
export function settingsOf(region: string, template: Template): Settings {
  const all = (type: string, prefix = '') =>
    Object.entries(template.Resources)
      .filter(([id, { Type }]) => Type === type && id.startsWith(prefix))
      .map(([, { Properties }]) => Properties);
  const only = (type: string, prefix: string) => {
    const [found, ...others] = all(type, prefix);
    if (found === undefined || others.length > 0)
      throw new Error(`Not one ${type} begins with ${prefix}: correct test/runs/bench/capacity.ts.`);
    return found;
  };
  const functionOf = (prefix: string) => only('AWS::Lambda::Function', prefix);
  const mapping = (prefix: string) => only('AWS::Lambda::EventSourceMapping', prefix);
  const deliver = functionOf('WebhooksDeliverWebhook');
  const consumer = mapping('WebhooksDeliverWebhookSource');
  const cluster = only('AWS::RDS::DBCluster', 'Database');
  const rule = only('AWS::WAFv2::WebACL', 'Api').Rules.find(
    ({ Name }: { Name: string }) => Name === 'RequestsPerAddress',
  );
  return {
    region,
    access: cluster.EnableHttpEndpoint ? 'data-api' : 'direct',
    throttle: only('AWS::ApiGateway::Stage', 'Api').MethodSettings[0].ThrottlingRateLimit,
    requestsPerAddress: rule.Statement.RateBasedStatement.Limit,
    batchSize: consumer.BatchSize,
    deliveries: consumer.ScalingConfig.MaximumConcurrency,
    events: mapping('WebhooksFanOutEventSource').ScalingConfig.MaximumConcurrency,
    memory: {
      delete: functionOf('DeleteUserGroup').MemorySize,
      deliver: deliver.MemorySize,
      fanOut: functionOf('WebhooksFanOutEvent').MemorySize,
    },
    subnets: deliver.VpcConfig.SubnetIds.length,
    addresses: 1 + (only('AWS::EC2::NatGateway', 'WebhookOrigin').SecondaryAllocationIds?.length ?? 0),
    capacityUnits: cluster.ServerlessV2ScalingConfiguration.MaxCapacity,
  };
}

interface Template {
  // biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties: any }>>;
}

/** What `npm run bench` saw on two cores without a network, in milliseconds: docs/measurements.md. */
export const measured = {
  /** Part `delete`, without a network: a warm deletion, and one row inserted. */
  deletion: { 'data-api': 4.65, direct: 2.45 },
  statement: { 'data-api': 3.37, direct: 1.35 },
  /** Separate profiles: PostgreSQL's own time for a deletion, by a plan that is kept, with its commit where that was seen. */
  deletionInPostgres: { 'data-api': 0.31, direct: 0.21 },
  /** Part `deliver`, over HTTPS, a receiver that responds at once, 50 in flight: all of a delivery, and without the database. */
  delivery: 1_000 / 2_067,
  deliveryWithoutDatabase: 1_000 / 4_029,
  /** The statement of `lambda/purge-expired`, alone: a thousand of a million rows of the delivery log; bytes of a row. */
  purgeBatch: 10.8,
  logRowBytes: 315,
} as const;

/** What nobody has measured: change it to see what follows. Times in milliseconds. */
export const assumed = {
  /** A round trip between a function and the database. */
  roundTrip: { 'data-api': 5, direct: 1 },
  receiver: 300,
  sqs: 10,
  authorizer: 10,
  /** Bytes through the NAT gateway, as in docs/cost.md. */
  deliveryBytes: { 'data-api': 10_000, direct: 5_000 },
  deliveryPackets: 20,
  /** Of an organization. The busiest moment has so many times the mean of the day. */
  day: { deletions: 1, events: 10, webhooks: 10, peak: 10 },
} as const;

/** AWS's; where regions differ, `default` is for those that are not named. The sources: `capacity-parts.ts`. */
export const quotas = {
  apiRequests: { default: 10_000, 'me-central-1': 2_500 },
  lambdaConcurrency: 1_000,
  /** Requests a second for each unit of concurrency. */
  lambdaRequests: 10,
  /** MiB that give a function one processor. */
  memoryPerProcessor: 1_769,
  sqsInFlight: 120_000,
  auroraConnections: 5_000,
  /** db.r6g.xlarge, as large as 16 capacity units, has 4. */
  capacityUnitsPerProcessor: 4,
  natPorts: 55_000,
  /** Milliseconds until the port of a closed connection is used again. */
  natPortReuse: 60_000,
  natBitsPerSecond: 100e9,
  natPackets: 10e6,
  resolverPackets: 1_024,
  kmsRequests: { default: 10_000, 'eu-central-1': 20_000 },
} as const;

export const regional = (quota: Readonly<Record<string, number>>, region: string) =>
  quota[region] ?? quota.default ?? Number.NaN;

/** Milliseconds of a batch of deliveries whose receivers answer in time: two statements, and the receivers side by side. */
export const batchMs = ({ access, batchSize, memory }: Settings, receiver: number = assumed.receiver) =>
  receiver +
  2 * assumed.roundTrip[access] +
  (batchSize * measured.delivery) / Math.min(1, memory.deliver / quotas.memoryPerProcessor);

/** Milliseconds of a batch of events, which side by side read the webhooks and send to the queue. */
export const fanOutMs = ({ access, batchSize, memory }: Settings) =>
  assumed.sqs +
  // One connection to PostgreSQL carries one statement after the other.
  assumed.roundTrip[access] * (access === 'direct' ? batchSize : 1) +
  (batchSize * measured.statement[access]) / Math.min(1, memory.fanOut / quotas.memoryPerProcessor);

export const deletionMs = ({ access, memory }: Settings) =>
  assumed.roundTrip[access] +
  measured.deletion[access] / Math.min(1, memory.delete / quotas.memoryPerProcessor);

/** Milliseconds for which a delivery that keeps failing is hidden, and so in flight: all delays of a minute at most. */
export function hiddenMs(): number {
  let age = 0;
  for (;;) {
    const step = nextStep({ answered: false, reason: 'timeout' }, { now: age, startedAt: 0, random: 0.5 });
    if (step.outcome !== 'failed' || step.retryInMs > longestHiddenMs) return age;
    age += step.retryInMs;
    if (age > retrySchedule.giveUpAfter) throw new Error('Delays do not grow.');
  }
}

/** The database's own time for a delivery, in ms of a processor: at most, since the function's part is in it too. */
export const deliveryInPostgresMs = 2 * (measured.delivery - measured.deliveryWithoutDatabase);

export const processors = ({ capacityUnits }: Settings) => capacityUnits / quotas.capacityUnitsPerProcessor;

/** Deliveries a second of so many instances. */
export const perSecond = (settings: Settings, instances: number) =>
  (1_000 * instances * settings.batchSize) / batchMs(settings);

/** Rows of the delivery log that the daily purge deletes, spread over the day's seconds. */
export const purgedPerSecond = ({ access }: Settings) =>
  (purgeBatch * purgeMs) / (measured.purgeBatch + assumed.roundTrip[access]) / 86_400;
