import { startEventSource } from '../lambda/event-source';
import { requireAllowed, type StackContext } from './context';
import type { DeployedStack } from './deployment';

/**
 * Starts a stack's enabled event sources: queues that trigger functions.
 *
 * @throws Error if a function's role may not read its queue; Lambda rejects such an event source:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
 */
export function startEventSources({ resources }: DeployedStack, context: StackContext) {
  const { queues, functions } = context.services;
  const actions = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
  const sources = [...resources.values()]
    .filter(
      ({ type, properties }) => type === 'AWS::Lambda::EventSourceMapping' && properties.Enabled !== false,
    )
    .map(({ logicalId, properties }) => {
      const {
        EventSourceArn,
        FunctionName,
        BatchSize,
        ScalingConfig,
        FunctionResponseTypes = [],
      } = properties;
      const target = functions.find(FunctionName);
      requireAllowed(context, logicalId, target.role, actions, EventSourceArn);
      const maximumConcurrency: number | undefined = ScalingConfig?.MaximumConcurrency;
      if (maximumConcurrency !== undefined) target.reserve(maximumConcurrency);
      return {
        endpoint: queues.url,
        queueUrl: queues.urlOf(EventSourceArn),
        queueArn: EventSourceArn,
        region: context.stack.region,
        accessKeyId: target.accessKeyId,
        batchSize: BatchSize,
        maximumConcurrency,
        reportBatchItemFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
        invoke: target.invoke,
        onProblem: context.onProblem,
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
