import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { sqsRequest } from '../queues/queues';
import type { InvocationResult } from './instance';

/**
 * A queue that triggers a function: `AWS::Lambda::EventSourceMapping`.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
 */
export interface EventSourceOptions {
  /** SQS endpoint URL. */
  readonly endpoint: string;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly region: string;
  /** The function's: Lambda reads the queue with the function's role. */
  readonly accessKeyId?: string;
  /** Maximum messages per invocation, up to 10. */
  readonly batchSize: number;
  /** Maximum concurrent invocations. */
  readonly maximumConcurrency: number;
  invoke(event: SQSEvent): Promise<InvocationResult>;
  /** Called with a message when the queue cannot be read or written. */
  onProblem(line: string): void;
}

export type EventSource = ReturnType<typeof startEventSource>;

/** A message as `ReceiveMessage` returns it. */
export type ReceivedMessage = Message & { readonly MessageId: string; readonly ReceiptHandle: string };

/** Polls a queue, one poll at a time, and invokes the function, which reports failed messages, for each batch. */
export function startEventSource(options: EventSourceOptions) {
  const { endpoint: url, region, accessKeyId, queueUrl: QueueUrl } = options;
  const receive = {
    ...{ QueueUrl, MaxNumberOfMessages: options.batchSize, WaitTimeSeconds: 20 },
    ...{ MessageSystemAttributeNames: ['All'], MessageAttributeNames: ['All'] },
  };
  const running = new Set<Promise<void>>();
  let isStopped = false;
  // One per poll: `fetch` keeps its listener on the signal until garbage collection.
  let polling = new AbortController();

  async function poll(): Promise<void> {
    while (!isStopped) {
      if (running.size >= options.maximumConcurrency) {
        await Promise.race(running);
        continue;
      }
      polling = new AbortController();
      const { signal } = polling;
      try {
        const { Messages = [] } = await sqsRequest<{ Messages?: ReceivedMessage[] }>(
          { url, region, accessKeyId, signal },
          'ReceiveMessage',
          receive,
        );
        if (Messages.length === 0) continue;
        const handling = handle(Messages)
          .catch(report)
          .finally(() => running.delete(handling));
        running.add(handling);
      } catch (error) {
        report(error as Error);
        await sleep(1_000, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Messages that are not deleted become visible again after the visibility timeout. */
  async function handle(messages: readonly ReceivedMessage[]): Promise<void> {
    const result = await options.invoke({ Records: messages.map((message) => sqsRecord(message, options)) });
    const failed = failedMessages(result, messages);
    const Entries = messages
      .filter(({ MessageId }) => !failed.has(MessageId))
      .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    if (Entries.length === 0) return;
    await sqsRequest({ url, region, accessKeyId }, 'DeleteMessageBatch', { QueueUrl, Entries });
  }

  function report(error: Error): void {
    if (!isStopped) options.onProblem(`${options.queueArn}: ${error.message}`);
  }

  const polled = poll();
  return {
    /** Stops polling; resolves when running invocations have completed. */
    async stop(): Promise<void> {
      isStopped = true;
      polling.abort();
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
