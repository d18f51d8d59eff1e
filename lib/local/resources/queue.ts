import { type QueueServer, queueArn } from '../queues/queues';
import type { Provision } from '../template/stack-deployment';
import { type Home, physicalName } from './names';

/** Attributes that are spelled alike in a template and in SQS's `CreateQueue`. */
const attributeNames = [
  'VisibilityTimeout',
  'DelaySeconds',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'ReceiveMessageWaitTimeSeconds',
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
] as const;

/** Makes `AWS::SQS::Queue`: encryption is left out, as there is nothing at rest. */
export function provisionQueue(home: Home, queues: QueueServer): Provision {
  return async ({ logicalId, properties }) => {
    const { QueueName, RedrivePolicy, ...rest } = properties([
      'QueueName',
      'RedrivePolicy',
      ...attributeNames,
    ]);
    const name = typeof QueueName === 'string' ? QueueName : physicalName(home, logicalId);
    const attributes = Object.fromEntries(
      attributeNames.flatMap((attribute) =>
        rest[attribute] === undefined ? [] : [[attribute, String(rest[attribute])]],
      ),
    );
    if (RedrivePolicy !== undefined) attributes.RedrivePolicy = JSON.stringify(RedrivePolicy);
    const { url } = await queues.createQueue({ name, region: home.region, attributes });
    return { ref: url, attributes: { Arn: queueArn(name, home.region), QueueName: name, QueueUrl: url } };
  };
}
