import type { SQS } from '@aws-sdk/client-sqs';
import { callAws, required } from '../aws';
import type { StackResource } from '../deployed-stack';
import type { Target } from '../target';
import { maxAttempts } from './origin';

/** What waits in a queue, by SQS's approximations; `null` for what is unknown. */
interface QueueBacklog {
  readonly name: string;
  /** Messages that a consumer would get now. */
  readonly waiting: number | null;
  /** Messages that a consumer has, or that wait for their next attempt. */
  readonly later: number | null;
  /** Seconds that the oldest waits. */
  readonly oldest: number | null;
}

/**
 * The stack's queues, dead letters included.
 *
 * @param resources the stack's. @default - this machine, where queues are found by their names
 * @param learn gives undefined for what it cannot learn
 */
export async function readQueues(
  target: Target,
  resources: readonly StackResource[] | undefined,
  learn: <T>(name: string, ask: () => Promise<T>) => Promise<T | undefined>,
): Promise<readonly QueueBacklog[] | undefined> {
  const { SQS } = await import('@aws-sdk/client-sqs');
  const client = new SQS({ ...target.clientSettings('sqs'), maxAttempts });
  const queues = resources
    ? resources
        .filter(({ type }) => type === 'AWS::SQS::Queue')
        .map(({ logicalId, physicalId }) => ({ name: logicalId, url: physicalId }))
    : await learn('queues', () => findQueues(target, client));
  return (
    queues &&
    Promise.all(
      queues.map(async ({ name, url }) => {
        const [counts, oldest = null] = await Promise.all([
          learn(`messages in ${name}`, () => countMessages(target, client, url)),
          learn(`age of the oldest in ${name}`, () => ageOfOldest(target, url)),
        ]);
        return { name, ...(counts ?? { waiting: null, later: null }), oldest };
      }),
    )
  );
}

async function findQueues(target: Target, client: SQS) {
  const prefix = `${target.environment.stackId}-`;
  const { QueueUrls = [] } = await callAws(target, 'sqs:ListQueues', (options) =>
    client.listQueues({ QueueNamePrefix: prefix }, options),
  );
  return QueueUrls.map((url) => ({ name: nameOf(url).slice(prefix.length), url }));
}

async function countMessages(target: Target, client: SQS, url: string) {
  const names = [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ] as const;
  const { Attributes } = await callAws(target, 'sqs:GetQueueAttributes', (options) =>
    client.getQueueAttributes({ QueueUrl: url, AttributeNames: [...names] }, options),
  );
  const [waiting = 0, inFlight = 0, delayed = 0] = names.map((name) =>
    Number(required('sqs:GetQueueAttributes', name, Attributes?.[name])),
  );
  return { waiting, later: inFlight + delayed };
}

/**
 * SQS itself does not say it, CloudWatch does, some minutes late.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
async function ageOfOldest(target: Target, url: string): Promise<number | null> {
  if (!target.offers('cloudwatch')) return null;
  const { CloudWatch } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatch({ ...target.clientSettings('cloudwatch'), maxAttempts });
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
  const { Datapoints = [] } = await callAws(target, 'cloudwatch:GetMetricStatistics', (options) =>
    client.getMetricStatistics(request, options),
  );
  const byTime = Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp));
  return byTime.at(-1)?.Maximum ?? null;
}

const nameOf = (url: string): string => url.split('/').at(-1) ?? '';
