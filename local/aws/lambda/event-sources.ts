import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Permissions } from '../iam/permissions';
import type { DeployedResources, StackParts } from '../resource';
import type { QueueServer, ReceivedMessage } from '../sqs/queues';
import type { StackFunctions } from './function';
import type { InvocationResult } from './instance';

interface EventSourceNeeds extends StackParts {
  readonly permissions: Pick<Permissions, 'requireRole'>;
  readonly functions: Pick<StackFunctions, 'find'>;
  readonly queues: Pick<QueueServer, 'consume'>;
}

/**
 * Starts a stack's enabled event sources: queues that trigger functions.
 *
 * @throws Error if a function's role may not read its queue; Lambda rejects such an event source:
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html#events-sqs-permissions
 * @throws Error for a mapping whose function cannot report failed messages, which is not supported
 */
export function startEventSources(
  resources: DeployedResources,
  { stack, queues, functions, permissions }: EventSourceNeeds,
): readonly EventSource[] {
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
      permissions.requireRole(logicalId, role, actions, queueArn);
      reserve(ScalingConfig.MaximumConcurrency);
      return {
        queueArn,
        region: stack.region,
        invoke,
        queue: queues.consume(queueArn, BatchSize),
        maximumConcurrency: ScalingConfig.MaximumConcurrency,
      };
    });
  return sources.map(startEventSource);
}

/**
 * A queue that triggers a function: `AWS::Lambda::EventSourceMapping`.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
 */
interface EventSourceOptions {
  readonly queue: ReturnType<QueueServer['consume']>;
  readonly queueArn: string;
  readonly region: string;
  /** Maximum concurrent invocations. */
  readonly maximumConcurrency: number;
  invoke(event: SQSEvent): Promise<InvocationResult>;
}

type EventSource = ReturnType<typeof startEventSource>;

/** Polls a queue, one poll at a time, and invokes the function, which reports failed messages, for each batch. */
function startEventSource(options: EventSourceOptions) {
  const { queue } = options;
  const running = new Set<Promise<void>>();
  let isStopped = false;

  async function poll(): Promise<void> {
    while (!isStopped) {
      if (running.size >= options.maximumConcurrency) {
        await Promise.race(running);
        continue;
      }
      const messages = await queue.next();
      if (messages.length === 0) continue;
      const handling = handle(messages).finally(() => running.delete(handling));
      running.add(handling);
    }
  }

  /** Messages that are not deleted become visible again after the visibility timeout. */
  async function handle(messages: readonly ReceivedMessage[]): Promise<void> {
    const result = await options.invoke({ Records: messages.map((message) => sqsRecord(message, options)) });
    const failed = failedMessages(result, messages);
    for (const message of messages) if (!failed.has(message.MessageId)) queue.delete(message);
  }

  const polled = poll();
  return {
    /** Stops polling; resolves when running invocations have completed. */
    async stop(): Promise<void> {
      isStopped = true;
      queue.cancel();
      await polled;
      await Promise.all(running);
    },
  };
}

/**
 * "Success and failure conditions": nothing reported is success; an identifier that is empty, null or unknown fails the
 * whole batch. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
function failedMessages(
  result: InvocationResult,
  messages: readonly ReceivedMessage[],
): ReadonlySet<unknown> {
  const all = new Set<unknown>(messages.map(({ MessageId }) => MessageId));
  if (!result.ok) return all;
  const { batchItemFailures } = (result.payload ?? {}) as { batchItemFailures?: unknown };
  const reported = [batchItemFailures ?? []].flat().map((item) => Object(item).itemIdentifier as unknown);
  return reported.every((id) => all.has(id)) ? new Set(reported) : all;
}

/** A message as Lambda passes it to a function: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
export function sqsRecord(
  message: ReceivedMessage,
  { queueArn, region }: Pick<EventSourceOptions, 'queueArn' | 'region'>,
): SQSRecord {
  const attributes = Object.entries(message.MessageAttributes ?? {});
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body ?? '',
    attributes: (message.Attributes ?? {}) as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      attributes.map(([name, { StringValue: stringValue = '', DataType = '' }]) => [
        name,
        { stringValue, stringListValues: [], binaryListValues: [], dataType: DataType },
      ]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
