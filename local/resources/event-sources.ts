import { type EventSource, startEventSource } from '../lambda/event-source';
import { findFunction, requireAllowed, type StackContext } from './context';
import type { DeployedStack, ResourceRequest } from './deployment';

/** An `AWS::Lambda::EventSourceMapping`. @throws Error when its source is not a queue */
export function eventSourceMapping(logicalId: string, properties: ResourceRequest['properties']) {
  const queueArn = String(properties.EventSourceArn);
  if (!queueArn.startsWith('arn:aws:sqs:')) {
    throw new Error(`${logicalId}: only queues feed functions on this machine, not ${queueArn}.`);
  }
  const { MaximumConcurrency } = (properties.ScalingConfig ?? {}) as {
    readonly MaximumConcurrency?: unknown;
  };
  const number = (value: unknown) => (value === undefined ? undefined : Number(value));
  return {
    queueArn,
    functionName: String(properties.FunctionName),
    enabled: properties.Enabled !== false,
    reportBatchItemFailures: [properties.FunctionResponseTypes].flat().includes('ReportBatchItemFailures'),
    batchSize: number(properties.BatchSize),
    maximumConcurrency: number(MaximumConcurrency),
  };
}

/**
 * Starts the event sources of a stack that are enabled.
 *
 * @throws Error when a function's role may not read its queue, as Lambda refuses such an event source:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
 */
export function startEventSources({ resources }: DeployedStack, context: StackContext): EventSource[] {
  const { stack, services } = context;
  const { queues } = services;
  const sources = [...resources.values()]
    .filter(({ type }) => type === 'AWS::Lambda::EventSourceMapping')
    .map(({ logicalId, properties }) => ({ logicalId, ...eventSourceMapping(logicalId, properties) }))
    .filter(({ enabled }) => enabled)
    .map((mapping) => ({ mapping, target: findFunction(context, mapping.functionName) }));
  const actions = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
  for (const { mapping, target } of sources) {
    if (target.role) requireAllowed(context, mapping.logicalId, target.role, actions, mapping.queueArn);
  }
  return sources.map(({ mapping, target }) => {
    if (mapping.maximumConcurrency !== undefined) target.reserve(mapping.maximumConcurrency);
    return startEventSource({
      ...mapping,
      region: stack.region,
      endpoint: queues.url,
      queueUrl: queues.urlOf(mapping.queueArn),
      accessKeyId: target.accessKeyId,
      invoke: (event) => target.invoke(event),
      onProblem: context.onProblem,
    });
  });
}

/**
 * Rules run at AWS only.
 *
 * @throws Error when EventBridge may not invoke the function of a rule
 */
export function checkRules(
  { resources }: DeployedStack,
  { permissions }: Pick<StackContext, 'permissions'>,
): void {
  for (const { logicalId, type, attributes, properties } of resources.values()) {
    if (type !== 'AWS::Events::Rule') continue;
    for (const { Arn } of properties.Targets as readonly { readonly Arn: string }[]) {
      if (!Arn.startsWith('arn:aws:lambda:')) continue;
      const refusal = permissions.authorizeService('events.amazonaws.com', Arn, String(attributes.Arn));
      if (refusal !== undefined) throw new Error(`${logicalId}: ${refusal}`);
    }
  }
}
