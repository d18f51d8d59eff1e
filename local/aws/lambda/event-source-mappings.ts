import type { DeployedStack, StackContext } from '../cloudformation/deployment';
import { startEventSource } from './event-source';

/**
 * Starts a stack's enabled event sources: queues that trigger functions.
 *
 * @throws Error if a function's role may not read its queue; Lambda rejects such an event source:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
 * @throws Error for a mapping whose function cannot report failed messages, which is not supported
 */
export function startEventSources({ resources }: DeployedStack, context: StackContext) {
  const { queues, functions } = context.services;
  const actions = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
  const sources = [...resources.values()]
    .filter(({ type, properties }) => type.endsWith('::EventSourceMapping') && properties.Enabled !== false)
    .map(({ logicalId, properties }) => {
      const { EventSourceArn: queueArn, FunctionName, BatchSize, ScalingConfig } = properties;
      const responseTypes = String(properties.FunctionResponseTypes);
      if (responseTypes !== 'ReportBatchItemFailures') {
        throw new Error(
          `${logicalId}: FunctionResponseTypes ${responseTypes} is not supported on this machine.`,
        );
      }
      const { role, invoke, reserve } = functions.find(FunctionName);
      context.permissions.requireRole(logicalId, role, actions, queueArn);
      reserve(ScalingConfig.MaximumConcurrency);
      return {
        ...{ queues, queueArn, region: context.stack.region, invoke },
        batchSize: BatchSize,
        maximumConcurrency: ScalingConfig.MaximumConcurrency,
      };
    });
  return sources.map(startEventSource);
}

/**
 * EventBridge rules do not run locally.
 *
 * @throws Error if EventBridge may not invoke a rule's function
 */
export function checkRules({ resources }: DeployedStack, { permissions }: StackContext): void {
  for (const { logicalId, type, attributes, properties } of resources.values()) {
    if (type !== 'AWS::Events::Rule') continue;
    for (const { Arn } of properties.Targets) {
      const refusal = permissions.authorizeService('events.amazonaws.com', Arn, attributes.Arn);
      if (refusal !== undefined) throw new Error(`${logicalId}: ${refusal}`);
    }
  }
}
