import { type QueueServer, queueArn } from '../queues/queues';
import type { Provision } from '../template/stack-deployment';
import { physicalName, type StackIdentity } from './names';

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
export function provisionQueue(identity: StackIdentity, queues: QueueServer): Provision {
  return async ({ logicalId, properties }) => {
    const { QueueName, RedrivePolicy, ...rest } = properties([
      'QueueName',
      'RedrivePolicy',
      ...attributeNames,
    ]);
    const name = typeof QueueName === 'string' ? QueueName : physicalName(identity, logicalId);
    const attributes = Object.fromEntries(
      attributeNames.flatMap((attribute) =>
        rest[attribute] === undefined ? [] : [[attribute, String(rest[attribute])]],
      ),
    );
    if (RedrivePolicy !== undefined) attributes.RedrivePolicy = JSON.stringify(RedrivePolicy);
    const { url } = await queues.createQueue({ name, region: identity.region, attributes });
    return { ref: url, attributes: { Arn: queueArn(name, identity.region), QueueName: name, QueueUrl: url } };
  };
}
