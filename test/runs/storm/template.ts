import { createApp } from '../../../lib/app';
import { readAssembly, type TemplateResource } from '../../../local/assembly/manifest';
import { eventSourceMapping } from '../../../local/resources/event-sources';
import { withDirectAccess as environment } from '../../support/rows';

/** What the template states of a queue and the function that it feeds. */
export interface PipelineStage {
  readonly batchSize: number;
  readonly batchingWindowSeconds: number;
  readonly maximumConcurrency: number;
  readonly reportBatchItemFailures: boolean;
  readonly memoryMiB: number;
  readonly maxReceiveCount: number;
}

export interface PipelineTemplate {
  readonly fanOut: PipelineStage;
  readonly deliver: PipelineStage;
  readonly retry: PipelineStage;
}

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

/** Synthesizes an environment with direct database access into `outdir` and reads the pipeline from its template. */
export function readPipelineTemplate(outdir: string): PipelineTemplate {
  createApp({ outdir, environments: [environment], validateTemplates: false }).synth();
  const stack = readAssembly(outdir).find(({ name }) => name === environment.stackId);
  if (!stack) throw new Error(`${environment.stackId} was not synthesized.`);
  const { Resources } = stack.template;
  return {
    fanOut: stage(Resources, 'WebhookEventsQueue'),
    deliver: stage(Resources, 'WebhookDeliveryQueue'),
    retry: stage(Resources, 'WebhookRetryQueue'),
  };
}

function stage(resources: Readonly<Record<string, TemplateResource>>, queueId: string): PipelineStage {
  const mapping = Object.values(resources).find(
    ({ Type, Properties }) =>
      Type === 'AWS::Lambda::EventSourceMapping' &&
      (Properties as Json).EventSourceArn['Fn::GetAtt'][0] === queueId,
  )?.Properties as Json;
  const queue = resources[queueId]?.Properties as Json;
  const lambda = resources[mapping?.FunctionName?.Ref]?.Properties as Json;
  if (!queue || !lambda) throw new Error(`The template has no function that is fed from ${queueId}.`);
  const source = eventSourceMapping(queueId, { ...mapping, EventSourceArn: 'arn:aws:sqs:::queue' });
  const { batchSize, maximumConcurrency } = source;
  if (!batchSize || !maximumConcurrency) throw new Error(`The source of ${queueId} states no bounds.`);
  return {
    batchSize,
    maximumConcurrency,
    batchingWindowSeconds: source.batchingWindowSeconds ?? 0,
    reportBatchItemFailures: source.reportBatchItemFailures,
    memoryMiB: lambda.MemorySize,
    maxReceiveCount: queue.RedrivePolicy.maxReceiveCount,
  };
}
