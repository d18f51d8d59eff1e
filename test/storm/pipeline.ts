import { join } from 'node:path';
import type { Cleanup } from '../../lib/local/cleanup';
import { type LocalFunction, startFunction } from '../../lib/local/function-runtime';
import type { Queue, QueueServer } from '../../lib/local/queues/queues';
import { startEventSource } from '../../lib/local/triggers/event-sources';
import type { LogCounts } from './log-counts';
import type { ScaledClock } from './settings';
import type { PipelineStage } from './template';

export interface StageOptions {
  readonly name: 'fan-out-event' | 'deliver-webhook';
  readonly stage: PipelineStage;
  readonly clock: ScaledClock;
  readonly queues: QueueServer;
  readonly queue: Queue;
  readonly bundles: string;
  readonly region: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: LogCounts;
  /** @default - the concurrency of the stage */
  readonly maxProcesses: number | undefined;
}

/** A function and the queue that feeds it, as they run. */
export interface RunningStage {
  readonly function: LocalFunction;
  /** Invocations that came to no answer, and how many messages they had. */
  readonly lost: { invocations: number; messages: number };
}

/** Queues of the product's shape: the dead-letter queue first. */
export async function createStageQueues(
  queues: QueueServer,
  options: {
    readonly name: string;
    readonly region: string;
    readonly stage: PipelineStage;
    readonly clock: ScaledClock;
  },
): Promise<{ readonly queue: Queue; readonly deadLetters: Queue }> {
  const { name, region, stage, clock } = options;
  const deadLetters = await queues.createQueue({ name: `${name}-dead-letters`, region, attributes: {} });
  const queue = await queues.createQueue({
    name,
    region,
    attributes: {
      VisibilityTimeout: String(Math.round(clock.visibilityTimeout / 1_000)),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: deadLetters.arn,
        maxReceiveCount: stage.maxReceiveCount,
      }),
    },
  });
  return { queue, deadLetters };
}

/** Starts a function's processes and feeds them from its queue, as the template says. */
export function startStage(cleanup: Cleanup, options: StageOptions): RunningStage {
  const { name, stage, clock, queues, queue, region } = options;
  const maximumConcurrency = Math.min(
    options.maxProcesses ?? stage.maximumConcurrency,
    stage.maximumConcurrency,
  );
  const local = startFunction({
    name,
    region,
    bundleDirectory: join(options.bundles, name),
    handler: 'index.handler',
    environment: options.environment,
    timeoutSeconds: clock.functionTimeout / 1_000,
    memoryMiB: stage.memoryMiB,
    maxInstances: maximumConcurrency,
    onLog: options.log.read,
  });
  cleanup.add(() => local.stop());
  const lost = { invocations: 0, messages: 0 };
  const source = startEventSource({
    ...stage,
    maximumConcurrency,
    endpoint: queues.url,
    queueUrl: queue.url,
    queueArn: queue.arn,
    region,
    async invoke(event) {
      const result = await local.invoke(event);
      if (!result.ok) {
        lost.invocations += 1;
        lost.messages += event.Records.length;
        options.log.failure(result.errorMessage);
      }
      return result;
    },
    onProblem: options.log.failure,
  });
  cleanup.add(async () => void (await Promise.all([source.stop(), local.stop()])));
  return { function: local, lost };
}
