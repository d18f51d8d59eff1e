import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { sqsRequest } from '../queues/queues';
import type { InvocationResult } from './instance';

/**
 * A queue that feeds a function: `AWS::Lambda::EventSourceMapping`.
 *
 * Meanings and defaults: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-parameters.html
 */
export interface EventSourceOptions {
  /** URL of SQS. */
  readonly endpoint: string;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly region: string;
  /** Of the function: Lambda reads its queue with its role. */
  readonly accessKeyId?: string;
  /** Most messages in one invocation. @default 10 */
  readonly batchSize?: number | undefined;
  /** Seconds to wait for a batch to fill. @default 0 */
  readonly batchingWindowSeconds?: number | undefined;
  /** Most invocations at once. @default 5, with which Lambda starts */
  readonly maximumConcurrency?: number | undefined;
  /** Whether the function names the messages that failed, instead of failing as a whole. @default false */
  readonly reportBatchItemFailures?: boolean;
  invoke(event: SQSEvent): Promise<InvocationResult>;
  /** Gets a line when the queue cannot be read or written. */
  onProblem(line: string): void;
}

export interface EventSource {
  /** Takes no further message, and resolves when the invocations that run have ended. */
  stop(): Promise<void>;
}

/** A message as `ReceiveMessage` gives it. */
export type ReceivedMessage = Message & { readonly MessageId: string; readonly ReceiptHandle: string };

/** SQS gives and deletes at most ten messages a call, and waits at most 20 s for one. */
const perCall = 10;
const longestWaitSeconds = 20;
const pauseAfterProblemMs = 1_000;

/** Starts to feed a function from a queue. */
export function startEventSource(options: EventSourceOptions): EventSource {
  const { batchSize = 10, batchingWindowSeconds = 0, maximumConcurrency = 5 } = options;
  const sqs = { url: options.endpoint, region: options.region, accessKeyId: options.accessKeyId };
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (running.size >= maximumConcurrency) await Promise.race(running);
        const messages = await receiveBatch();
        if (messages.length === 0) continue;
        const invocation = invoke(messages)
          .catch(report)
          .finally(() => running.delete(invocation));
        running.add(invocation);
      } catch (error) {
        report(error as Error);
        await sleep(pauseAfterProblemMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function receiveBatch(): Promise<readonly ReceivedMessage[]> {
    const messages = await receive(batchSize, longestWaitSeconds);
    const windowEnd = Date.now() + batchingWindowSeconds * 1_000;
    while (messages.length > 0 && messages.length < batchSize && !stopping.signal.aborted) {
      const secondsLeft = Math.ceil((windowEnd - Date.now()) / 1_000);
      if (secondsLeft <= 0) break;
      messages.push(
        ...(await receive(batchSize - messages.length, Math.min(longestWaitSeconds, secondsLeft))),
      );
    }
    return messages;
  }

  async function receive(count: number, waitSeconds: number): Promise<ReceivedMessage[]> {
    // Each call has its own signal: `fetch` listens to its signal until it is garbage-collected.
    const call = new AbortController();
    const abort = () => call.abort();
    stopping.signal.addEventListener('abort', abort);
    try {
      const { Messages = [] } = await sqsRequest<{ Messages?: ReceivedMessage[] }>(
        { ...sqs, signal: call.signal },
        'ReceiveMessage',
        {
          QueueUrl: options.queueUrl,
          MaxNumberOfMessages: Math.min(perCall, count),
          WaitTimeSeconds: waitSeconds,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        },
      );
      return Messages;
    } finally {
      stopping.signal.removeEventListener('abort', abort);
    }
  }

  async function invoke(messages: readonly ReceivedMessage[]): Promise<void> {
    const result = await options.invoke({ Records: messages.map((message) => sqsRecord(message, options)) });
    const failed = failedMessages(result, messages, options.reportBatchItemFailures ?? false);
    const done = messages.filter((message) => !failed.has(message.MessageId));
    for (let start = 0; start < done.length; start += perCall) {
      await sqsRequest(sqs, 'DeleteMessageBatch', {
        QueueUrl: options.queueUrl,
        Entries: done
          .slice(start, start + perCall)
          .map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      });
    }
  }

  function report(error: Error): void {
    if (!stopping.signal.aborted) options.onProblem(`${options.queueArn}: ${error.message}`);
  }

  const polling = poll();
  return {
    async stop() {
      stopping.abort();
      await polling;
      await Promise.all(running);
    },
  };
}

/**
 * The messages that stay in the queue, visible again when their visibility timeout ends.
 *
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html, "Success and failure
 * conditions": nothing reported is success; an identifier that is empty, null or unknown fails the whole batch.
 */
function failedMessages(
  result: InvocationResult,
  messages: readonly ReceivedMessage[],
  reportBatchItemFailures: boolean,
): Set<string> {
  const all = new Set(messages.map((message) => message.MessageId));
  if (!result.ok) return all;
  if (!reportBatchItemFailures) return new Set();
  const reported = (result.payload as { batchItemFailures?: unknown } | null)?.batchItemFailures ?? [];
  if (!Array.isArray(reported)) return all;
  const failed = reported.map((item) => (item as { itemIdentifier?: unknown } | null)?.itemIdentifier);
  return failed.every((id) => typeof id === 'string' && all.has(id)) ? new Set(failed as string[]) : all;
}

/** A message as Lambda gives it to a function: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html */
export function sqsRecord(
  message: ReceivedMessage,
  { queueArn, region }: { readonly queueArn: string; readonly region: string },
): SQSRecord {
  const attributes = Object.entries(message.MessageAttributes ?? {});
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body ?? '',
    attributes: (message.Attributes ?? {}) as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      attributes.map(([name, { StringValue, BinaryValue, DataType = '' }]) => [
        name,
        {
          ...(StringValue !== undefined && { stringValue: StringValue }),
          // In base64 already: SQS's JSON protocol has no bytes.
          ...(BinaryValue !== undefined && { binaryValue: String(BinaryValue) }),
          stringListValues: [],
          binaryListValues: [],
          dataType: DataType,
        },
      ]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
