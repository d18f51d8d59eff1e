import { arn, physicalName } from '../../assembly/manifest';
import type { Permissions } from '../iam/permissions';
import {
  type LocalResource,
  placeholder,
  type ResourceRequest,
  type ResourceTypes,
  type StackParts,
} from '../resource';
import type { QueueServer } from './queues';

export interface QueueNeeds extends StackParts {
  readonly permissions: Pick<Permissions, 'attachToResource'>;
  readonly queues: Pick<QueueServer, 'createQueue'>;
}

function createQueue(
  { logicalId, properties }: ResourceRequest,
  { stack, queues }: QueueNeeds,
): LocalResource {
  const name = physicalName(stack, logicalId);
  const { Tags: _, SqsManagedSseEnabled: __, ...attributes } = properties;
  const texts = Object.entries(attributes).map(([attribute, value]) => [
    attribute,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  const options = { name, region: stack.region, attributes: Object.fromEntries(texts) };
  const { url, arn } = queues.createQueue(options);
  return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
}

export const sqsResources: ResourceTypes<QueueNeeds> = {
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
