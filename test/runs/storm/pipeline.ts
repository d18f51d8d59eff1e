import type { Cleanup } from '../../../local/cleanup';
import { type EventSource, startEventSource } from '../../../local/lambda/event-source';
import type { LocalFunction } from '../../../local/lambda/function';
import type { Queue, QueueServer } from '../../../local/queues/queues';
import { startBundle } from '../world/functions';
import { region } from '../world/region';
import type { LogCounts } from './log-counts';
import type { ScaledClock, StormSettings } from './settings';
import type { PipelineStage } from './template';

/** A queue of the product's shape, and its dead-letter queue. */
export interface StageQueues {
  readonly queue: Queue;
  readonly deadLetters: Queue;
}

export async function createStageQueues(
  queues: QueueServer,
  name: string,
  { maxReceiveCount }: PipelineStage,
  { visibilityTimeout }: ScaledClock,
): Promise<StageQueues> {
  const deadLetters = await queues.createQueue({ name: `${name}-dead-letters`, region, attributes: {} });
  const attributes = {
    VisibilityTimeout: String(Math.round(visibilityTimeout / 1_000)),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetters.arn, maxReceiveCount }),
  };
  return { deadLetters, queue: await queues.createQueue({ name, region, attributes }) };
}

export interface StageOptions {
  readonly name: 'fan-out-event' | 'deliver-webhook';
  readonly settings: StormSettings;
  /** What feeds it. */
  readonly sources: readonly { readonly stage: PipelineStage; readonly queue: Queue }[];
  /** Where SQS is. */
  readonly endpoint: string;
  readonly bundleDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly log: LogCounts;
}

/** A function and the queues that feed it, as they run. */
export interface RunningStage {
  readonly function: LocalFunction;
  /** Invocations that came to no answer, and how many messages they had. */
  readonly lost: { invocations: number; messages: number };
  /** Starts all its processes: a first message would be hidden for a shorter time than that may take. */
  warmUp(): Promise<void>;
  /** Begins to take messages from the queues. */
  attach(): void;
}

/** A function's processes, fed from its queues as the template says once they are attached. */
export function startStage(cleanup: Cleanup, options: StageOptions): RunningStage {
  const { name, settings, sources, endpoint, bundleDirectory, environment, log } = options;
  const { clock } = settings;
  const maxInstances = sources.reduce((sum, { stage }) => sum + stage.maximumConcurrency, 0);
  const local = startBundle(cleanup, {
    name,
    bundleDirectory,
    environment,
    timeoutSeconds: clock.functionTimeout / 1_000,
    memoryMiB: sources[0]?.stage.memoryMiB ?? 0,
    maxInstances,
    onLog: log.read,
  });
  const lost = { invocations: 0, messages: 0 };
  const feed = ({ stage, queue }: (typeof sources)[number]) =>
    startEventSource({
      ...stage,
      maximumConcurrency: stage.maximumConcurrency,
      endpoint,
      queueUrl: queue.url,
      queueArn: queue.arn,
      region,
      async invoke(event) {
        const result = await local.invoke(event);
        if (!result.ok) {
          lost.invocations += 1;
          lost.messages += event.Records.length;
          log.failure(result.errorMessage);
        }
        return result;
      },
      onProblem: log.failure,
    });
  let feeding: readonly EventSource[] = [];
  cleanup.add(async () => void (await Promise.all([...feeding, local].map((each) => each.stop()))));
  return {
    function: local,
    lost,
    async warmUp() {
      await Promise.all(Array.from({ length: maxInstances }, () => local.invoke({ Records: [] })));
    },
    attach() {
      feeding = sources.map(feed);
    },
  };
}
