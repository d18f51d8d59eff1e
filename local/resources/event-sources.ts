import { type EventSource, type EventSourceOptions, startEventSource } from '../lambda/event-source';
import type { Permissions } from '../permissions/permissions';
import type { QueueServer } from '../queues/queues';
import type { DeployedStack } from './deployment';
import type { StackFunctions } from './functions';

/** `AWS::Lambda::EventSourceMapping`: a queue, a function, and how the one feeds the other. */
export interface EventSourceMapping
  extends Pick<EventSourceOptions, 'queueArn' | 'batchSize' | 'maximumConcurrency'> {
  readonly functionName: string;
  readonly enabled: boolean;
  readonly reportBatchItemFailures: boolean;
}

const supported = new Set([
  'BatchSize',
  'Enabled',
  'EventSourceArn',
  'FunctionName',
  'FunctionResponseTypes',
  'ScalingConfig',
  'Tags',
]);

/** @throws Error when the mapping has a property that is not supported on this machine, or its source is not a queue */
export function eventSourceMapping(
  logicalId: string,
  properties: Readonly<Record<string, unknown>>,
): EventSourceMapping {
  const unsupported = Object.keys(properties).find((name) => !supported.has(name));
  if (unsupported) throw new Error(`${logicalId}: ${unsupported} is not supported on this machine.`);
  const queueArn = String(properties.EventSourceArn);
  if (!queueArn.startsWith('arn:aws:sqs:')) {
    throw new Error(`${logicalId}: only queues feed functions on this machine, not ${queueArn}.`);
  }
  const { MaximumConcurrency } = (properties.ScalingConfig ?? {}) as {
    readonly MaximumConcurrency?: unknown;
  };
  const responseTypes = (properties.FunctionResponseTypes as readonly string[] | undefined) ?? [];
  return {
    queueArn,
    functionName: String(properties.FunctionName),
    enabled: properties.Enabled !== false,
    reportBatchItemFailures: responseTypes.includes('ReportBatchItemFailures'),
    batchSize: numberOf(properties.BatchSize),
    maximumConcurrency: numberOf(MaximumConcurrency),
  };
}

const numberOf = (value: unknown): number | undefined => (value === undefined ? undefined : Number(value));

export interface EventSourcesOptions {
  readonly region: string;
  readonly deployed: DeployedStack;
  readonly functions: Pick<StackFunctions, 'find'>;
  readonly permissions: Pick<Permissions, 'authorizeRole'>;
  readonly queues: QueueServer;
  /** Gets a line when a queue cannot be read or written. */
  readonly onProblem: (line: string) => void;
}

/**
 * Starts the event sources of a stack that are enabled.
 *
 * @throws Error when a function's role may not read its queue; Lambda refuses such an event source, too:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
 */
export function startEventSources(options: EventSourcesOptions): readonly EventSource[] {
  const { region, deployed, functions, permissions, queues, onProblem } = options;
  const mappings = [...deployed.resources.values()]
    .filter(({ type }) => type === 'AWS::Lambda::EventSourceMapping')
    .map(({ logicalId, properties }) => eventSourceMapping(logicalId, properties))
    .filter(({ enabled }) => enabled);
  for (const { functionName, queueArn } of mappings) {
    const { role } = functions.find(functionName);
    for (const action of role ? ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'] : []) {
      const refusal = permissions.authorizeRole(role ?? '', action, queueArn);
      if (refusal !== undefined) throw new Error(`${functionName}: ${refusal}`);
    }
  }
  return mappings.map((mapping) => {
    const target = functions.find(mapping.functionName);
    if (mapping.maximumConcurrency !== undefined) target.reserve(mapping.maximumConcurrency);
    return startEventSource({
      ...mapping,
      region,
      endpoint: queues.url,
      queueUrl: queues.urlOf(mapping.queueArn),
      accessKeyId: target.accessKeyId,
      invoke: (event) => target.invoke(event),
      onProblem,
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
  permissions: Pick<Permissions, 'authorizeService'>,
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
