/** What `AWS::Lambda::EventSourceMapping` says of a queue and a function. */
export interface EventSourceMapping {
  readonly queueArn: string;
  readonly functionName: string;
  readonly enabled: boolean;
  readonly batchSize?: number;
  readonly batchingWindowSeconds?: number;
  readonly maximumConcurrency?: number;
  readonly reportBatchItemFailures: boolean;
}

/** Settings that would change what a function gets, and are not carried out here. */
const unsupported = ['FilterCriteria', 'ProvisionedPollerConfig', 'DestinationConfig', 'KmsKeyArn'];

/** @throws Error when the mapping has a setting that is not carried out on this machine, or its source is no queue */
export function eventSourceMapping(
  stackName: string,
  logicalId: string,
  properties: Readonly<Record<string, unknown>>,
): EventSourceMapping {
  const found = unsupported.find((name) => properties[name] !== undefined);
  if (found) throw new Error(`${stackName}, ${logicalId}: ${found} is not carried out on this machine.`);
  const queueArn = String(properties.EventSourceArn);
  if (!queueArn.startsWith('arn:aws:sqs:')) {
    throw new Error(
      `${stackName}, ${logicalId}: only queues feed functions on this machine, not ${queueArn}.`,
    );
  }
  const scaling = properties.ScalingConfig as { readonly MaximumConcurrency?: number } | undefined;
  const responseTypes = (properties.FunctionResponseTypes as readonly string[] | undefined) ?? [];
  return {
    queueArn,
    functionName: String(properties.FunctionName),
    enabled: properties.Enabled !== false,
    reportBatchItemFailures: responseTypes.includes('ReportBatchItemFailures'),
    ...number('batchSize', properties.BatchSize),
    ...number('batchingWindowSeconds', properties.MaximumBatchingWindowInSeconds),
    ...number('maximumConcurrency', scaling?.MaximumConcurrency),
  };
}

function number<Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: number } {
  return value === undefined ? {} : ({ [name]: Number(value) } as { [name in Name]: number });
}
