import type { EventSourceOptions } from '../triggers/event-sources';

/** `AWS::Lambda::EventSourceMapping`: a queue, a function, and how the one feeds the other. */
export interface EventSourceMapping
  extends Pick<
    EventSourceOptions,
    'queueArn' | 'batchSize' | 'batchingWindowSeconds' | 'maximumConcurrency'
  > {
  readonly functionName: string;
  readonly enabled: boolean;
  readonly reportBatchItemFailures: boolean;
}

/** Settings that would change what a function gets, and are not supported here. */
const unsupported = ['FilterCriteria', 'ProvisionedPollerConfig', 'DestinationConfig', 'KmsKeyArn'];

/** @throws Error when the mapping has a setting that is not supported on this machine, or its source is not a queue */
export function eventSourceMapping(
  stackName: string,
  logicalId: string,
  properties: Readonly<Record<string, unknown>>,
): EventSourceMapping {
  const found = unsupported.find((name) => properties[name] !== undefined);
  if (found) throw new Error(`${stackName}, ${logicalId}: ${found} is not supported on this machine.`);
  const queueArn = String(properties.EventSourceArn);
  if (!queueArn.startsWith('arn:aws:sqs:')) {
    throw new Error(
      `${stackName}, ${logicalId}: only queues feed functions on this machine, not ${queueArn}.`,
    );
  }
  const scaling = properties.ScalingConfig as { readonly MaximumConcurrency?: unknown } | undefined;
  const responseTypes = (properties.FunctionResponseTypes as readonly string[] | undefined) ?? [];
  return {
    queueArn,
    functionName: String(properties.FunctionName),
    enabled: properties.Enabled !== false,
    reportBatchItemFailures: responseTypes.includes('ReportBatchItemFailures'),
    batchSize: numberOf(properties.BatchSize),
    batchingWindowSeconds: numberOf(properties.MaximumBatchingWindowInSeconds),
    maximumConcurrency: numberOf(scaling?.MaximumConcurrency),
  };
}

const numberOf = (value: unknown): number | undefined => (value === undefined ? undefined : Number(value));
