import type { QueueServer } from '../queues/queues';
import type { Provision } from './deployment';
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

/** Makes `AWS::SQS::Queue`, without encryption: nothing is stored. */
export function provisionQueue(stack: StackIdentity, queues: QueueServer): Provision {
  return async ({ logicalId, properties }) => {
    const { QueueName: name = physicalName(stack, logicalId), RedrivePolicy } = properties as {
      QueueName?: string;
      RedrivePolicy?: object;
    };
    const attributes: Record<string, string> = {};
    for (const attribute of attributeNames) {
      if (properties[attribute] !== undefined) attributes[attribute] = String(properties[attribute]);
    }
    if (RedrivePolicy !== undefined) attributes.RedrivePolicy = JSON.stringify(RedrivePolicy);
    const { url, arn } = await queues.createQueue({ name, region: stack.region, attributes });
    return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
  };
}
