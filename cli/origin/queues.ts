import type { SQSClient } from '@aws-sdk/client-sqs';
import { callAws, required } from '../aws';
import type { StackResource } from '../stack-resources';
import type { Target } from '../target';
import { maxAttempts } from './apis';
import type { Inquiry } from './inquiry';

/** What waits in a queue. All counts are SQS's approximations. */
export interface QueueBacklog {
  readonly name: string;
  /** Messages that a consumer would get now; `null` when SQS does not tell. */
  readonly waiting: number | null;
  /** Messages that a consumer has, or that wait for their next attempt; `null` when SQS does not tell. */
  readonly later: number | null;
  /** Seconds that the oldest waits; `null` where it cannot be known. */
  readonly oldest: number | null;
}

/** The stack's queues, dead letters included. On this machine, which has no stack to ask, they are found by their names. */
export async function readQueues(
  target: Target,
  resources: readonly StackResource[] | undefined,
  { learn }: Inquiry,
): Promise<readonly QueueBacklog[] | undefined> {
  const { SQSClient } = await import('@aws-sdk/client-sqs');
  const client = new SQSClient({ ...target.clientSettings('sqs'), maxAttempts });
  const queues = resources
    ? resources
        .filter(({ type }) => type === 'AWS::SQS::Queue')
        .map(({ logicalId, physicalId }) => ({ name: logicalId, url: physicalId }))
    : await learn(['queues'], () => findQueues(target, client));
  return (
    queues &&
    Promise.all(
      queues.map(async ({ name, url }) => {
        const [counts, oldest = null] = await Promise.all([
          learn([`messages in ${name}`], () => countMessages(target, client, url)),
          learn([`age of the oldest in ${name}`], () => ageOfOldest(target, url)),
        ]);
        return { name, ...(counts ?? { waiting: null, later: null }), oldest };
      }),
    )
  );
}

async function findQueues(
  target: Target,
  client: SQSClient,
): Promise<readonly { name: string; url: string }[]> {
  const { ListQueuesCommand } = await import('@aws-sdk/client-sqs');
  const prefix = `${target.environment.stackId}-`;
  const { QueueUrls } = await callAws(target, 'sqs:ListQueues', (options) =>
    client.send(new ListQueuesCommand({ QueueNamePrefix: prefix }), options),
  );
  return (QueueUrls ?? []).map((url) => ({ name: nameOf(url).slice(prefix.length), url }));
}

async function countMessages(
  target: Target,
  client: SQSClient,
  url: string,
): Promise<{ waiting: number; later: number }> {
  const { GetQueueAttributesCommand } = await import('@aws-sdk/client-sqs');
  const request = new GetQueueAttributesCommand({
    QueueUrl: url,
    AttributeNames: [
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesNotVisible',
      'ApproximateNumberOfMessagesDelayed',
    ],
  });
  const { Attributes } = await callAws(target, 'sqs:GetQueueAttributes', (options) =>
    client.send(request, options),
  );
  const count = (name: `ApproximateNumberOfMessages${'' | 'NotVisible' | 'Delayed'}`) =>
    Number(required('sqs:GetQueueAttributes', name, Attributes?.[name]));
  return {
    waiting: count('ApproximateNumberOfMessages'),
    later: count('ApproximateNumberOfMessagesNotVisible') + count('ApproximateNumberOfMessagesDelayed'),
  };
}

/** Milliseconds. SQS sends its metrics once a minute, some minutes late. */
const lately = 10 * 60_000;

/**
 * SQS itself does not tell it, CloudWatch does.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
async function ageOfOldest(target: Target, url: string): Promise<number | null> {
  if (!target.offers('cloudwatch')) return null;
  const { CloudWatchClient, GetMetricStatisticsCommand } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatchClient({ ...target.clientSettings('cloudwatch'), maxAttempts });
  const now = Date.now();
  const request = new GetMetricStatisticsCommand({
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateAgeOfOldestMessage',
    Dimensions: [{ Name: 'QueueName', Value: nameOf(url) }],
    StartTime: new Date(now - lately),
    EndTime: new Date(now),
    Period: 60,
    Statistics: ['Maximum'],
  });
  const { Datapoints = [] } = await callAws(target, 'cloudwatch:GetMetricStatistics', (options) =>
    client.send(request, options),
  );
  const inOrder = Datapoints.toSorted((a, b) => Number(a.Timestamp) - Number(b.Timestamp));
  return inOrder.at(-1)?.Maximum ?? null;
}

const nameOf = (url: string): string => url.split('/').at(-1) ?? '';
