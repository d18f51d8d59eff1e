import { arn, physicalName } from '../../assembly/manifest';
import {
  type LocalResource,
  placeholder,
  type ResourceRequest,
  type ResourceTypes,
  type StackContext,
} from '../resource';

function createQueue(
  { logicalId, properties }: ResourceRequest,
  { stack, services }: StackContext,
): LocalResource {
  const name = physicalName(stack, logicalId);
  const { Tags: _, SqsManagedSseEnabled: __, ...attributes } = properties;
  const texts = Object.entries(attributes).map(([attribute, value]) => [
    attribute,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  const options = { name, region: stack.region, attributes: Object.fromEntries(texts) };
  const { url, arn } = services.queues.createQueue(options);
  return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
}

export const sqsResources: ResourceTypes = {
  // Not encrypted: queues are not stored.
  'AWS::SQS::Queue': [
    'MaximumMessageSize MessageRetentionPeriod RedrivePolicy SqsManagedSseEnabled Tags VisibilityTimeout',
    createQueue,
  ],
  'AWS::SQS::QueuePolicy': [
    'PolicyDocument Queues',
    (request, context) => {
      const { logicalId, properties } = request;
      for (const url of properties.Queues) {
        const queueArn = arn(context.stack, 'sqs', url.split('/').at(-1));
        context.permissions.attachToResource(queueArn, properties.PolicyDocument, logicalId);
      }
      return placeholder(request, context);
    },
  ],
};
