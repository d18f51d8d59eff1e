import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { fail, ok, type Result, type Unavailable } from '../../domain/result';
import { batchRequests } from './batch-requests';
import type { Log } from './log';
import { timeouts } from './timeouts';

/** The queue is unreachable, or rejected a request. Some of the messages may have been sent. */
export type QueueUnavailable = Unavailable<'queue_unavailable'>;

interface QueueMessage {
  readonly body: string;
  // A group with a backlog does not hold up the others of a fair queue:
  // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
  readonly group: string;
  /** Rounded up: never early. @default 0; at most `maxDelaySeconds` */
  readonly delaySeconds?: number;
  /** Why it is on a dead-letter queue: the message's attribute `Reason`. */
  readonly reason?: string;
}

export interface Queue {
  send(messages: readonly QueueMessage[]): Promise<Result<null, QueueUnavailable>>;
  /** Sets the visibility timeout of a received message: seconds (0 to 43,200 after its receipt), rounded up. */
  hide(receiptHandle: string, seconds: number): Promise<Result<null, QueueUnavailable>>;
}

/** SQS accepts 10 messages a request. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const maxBatchCount = 10;
/** Bytes of all messages of a request: SQS's limit before 1 MiB was allowed, so no region rejects it. */
const maxBatchBytes = 256 * 1024;

/** The longest `DelaySeconds`. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html */
export const maxDelaySeconds = 900;

/** Creates queues by URL. They share a client, created on first use. @param timeout aborts after milliseconds */
export function createQueues(
  createClient = () => new SQSClient({}),
  timeout = (milliseconds: number) => AbortSignal.timeout(milliseconds),
) {
  let client: SQSClient | undefined;
  const sqs = () => {
    client ??= createClient();
    return client;
  };

  return (QueueUrl: string): Queue => {
    /** @returns why SQS refused messages, keyed by those */
    const sendAll = async (messages: readonly QueueMessage[], abortSignal: AbortSignal) => {
      const refusals = new Map<QueueMessage | undefined, string>();
      const sending = batches(messages).map(async (Entries) => {
        const batch = new SendMessageBatchCommand({ QueueUrl, Entries });
        const sent = await request(() => sqs().send(batch, { abortSignal }));
        const refused = sent.ok
          ? sent.value.Failed
          : Entries.map(({ Id }) => ({ Id, Code: sent.error.reason }));
        for (const { Id, Code = 'unknown' } of refused ?? []) refusals.set(messages[Number(Id)], Code);
      });
      await Promise.all(sending);
      return refusals;
    };

    return {
      // Each caller's refused messages are sent again in a request of their own, so that one cannot fail the others.
      send: batchRequests(async (calls: readonly (readonly QueueMessage[])[]) => {
        const signal = timeout(timeouts.queue);
        const refusals = await sendAll(calls.flat(), signal);
        const sending = calls.map(async (messages) => {
          const left = messages.filter((message) => refusals.has(message));
          const isLast = left.length === 0 || calls.length === 1 || signal.aborted;
          const reasons = isLast
            ? left.map((each) => refusals.get(each))
            : (await sendAll(left, signal)).values();
          const [reason] = reasons;
          return reason === undefined ? ok(null) : unavailable(reason);
        });
        return Promise.all(sending);
      }),
      hide: (ReceiptHandle, seconds) =>
        request(async () => {
          const change = { QueueUrl, ReceiptHandle, VisibilityTimeout: Math.ceil(seconds) };
          const abortSignal = timeout(timeouts.queue);
          await sqs().send(new ChangeMessageVisibilityCommand(change), { abortSignal });
          return null;
        }),
    };
  };
}

async function request<T>(work: () => Promise<T>): Promise<Result<T, QueueUnavailable>> {
  try {
    return ok(await work());
  } catch (error) {
    return unavailable(error instanceof Error ? error.name : 'unknown');
  }
}

const unavailable = (reason: string) => fail<QueueUnavailable>({ kind: 'queue_unavailable', reason });

function batches(messages: readonly QueueMessage[]): SendMessageBatchRequestEntry[][] {
  const result: SendMessageBatchRequestEntry[][] = [];
  let bytes = 0;
  for (const [index, { body, group, delaySeconds, reason }] of messages.entries()) {
    const size = Buffer.byteLength(body);
    if (index === 0 || result.at(-1)?.length === maxBatchCount || bytes + size > maxBatchBytes) {
      result.push([]);
      bytes = 0;
    }
    bytes += size;
    result.at(-1)?.push({
      Id: String(index),
      MessageBody: body,
      MessageGroupId: group,
      ...(delaySeconds && { DelaySeconds: Math.ceil(delaySeconds) }),
      ...(reason && { MessageAttributes: { Reason: { DataType: 'String', StringValue: reason } } }),
    });
  }
  return result;
}

export interface Consumer<Message> {
  /** The error becomes the reason of an invalid message on the dead-letter queue. */
  parse(body: string): Result<Message, string>;
  /** A message that fails, unless it is an `InvalidMessage`, is received again after `backoffSeconds`, and not before `retryInSeconds`. */
  handle(message: Message, record: SQSRecord): Promise<Result<unknown, MessageFailed>>;
  queueOf(record: SQSRecord): Queue;
  readonly deadLetters: Queue;
  readonly log: Log;
  readonly logCodes: { readonly refused: string; readonly waits: string };
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** The queue's: a message whose function was killed is received again after these seconds. */
  readonly visibilitySeconds: number;
}

/** The message can never be handled: it goes to the dead-letter queue, with the reason. */
export interface InvalidMessage {
  readonly kind: 'invalid_message';
  readonly reason: string;
}

export const invalidMessage = (reason: string) => fail<InvalidMessage>({ kind: 'invalid_message', reason });

type MessageFailed = Unavailable<string> & {
  readonly retryInSeconds?: number;
  /** Not an error: the message only has to be looked at again. */
  readonly isExpected?: boolean;
};

/** Seconds over which the messages of a killed function return, so that the one that killed it takes few of the others along. */
const returnPeriod = 120;

/** Processes the messages of a batch concurrently. Failed ones are hidden for a time, then received again. */
export async function consume<Message>(
  records: readonly SQSRecord[],
  consumer: Consumer<Message>,
): Promise<SQSBatchResponse> {
  const { log, logCodes } = consumer;
  const separated = separateReturns();
  const [failures] = await Promise.all([Promise.all(records.map(receive)), separated]);
  return {
    batchItemFailures: records
      .filter((_, index) => failures[index])
      .map(({ messageId }) => ({ itemIdentifier: messageId })),
  };

  /** @returns whether SQS must deliver the message again */
  async function receive(record: SQSRecord): Promise<boolean> {
    const { messageId, receiptHandle, attributes } = record;
    const outcome = await process(record).catch((error: Error) =>
      fail<MessageFailed & { error: Error }>({ kind: 'internal_error', reason: error.name, error }),
    );
    if (outcome.ok) return false;
    const { kind: cause, retryInSeconds, isExpected, ...why } = outcome.error;
    const line = { logCode: logCodes.waits, messageId, cause, ...why };
    if (isExpected) log.info('Message will be received again', line);
    else log.error('Message will be retried', line);
    const receiveCount = Number(attributes.ApproximateReceiveCount);
    const seconds = Math.max(retryInSeconds ?? 0, backoffSeconds(receiveCount, consumer.random()));
    // The later of two calls would win.
    await separated;
    await consumer.queueOf(record).hide(receiptHandle, seconds);
    return true;
  }

  /** If this function is killed, those of its messages that have come back before return at different times. */
  async function separateReturns(): Promise<void> {
    if (records.length < 2) return;
    const returned = records.filter(({ attributes }) => Number(attributes.ApproximateReceiveCount) > 1);
    const { visibilitySeconds, random, queueOf } = consumer;
    await Promise.all(
      returned.map((record) =>
        queueOf(record).hide(record.receiptHandle, visibilitySeconds + returnPeriod * random()),
      ),
    );
  }

  async function process(record: SQSRecord): Promise<Result<unknown, MessageFailed>> {
    const { messageId, body } = record;
    const message = consumer.parse(body);
    const handled = message.ok ? await consumer.handle(message.value, record) : invalidMessage(message.error);
    if (handled.ok || handled.error.kind !== 'invalid_message') return handled;
    const { reason } = handled.error;
    log.error('Invalid message', { logCode: logCodes.refused, messageId, reason });
    return consumer.deadLetters.send([{ body, group: 'unreadable', reason }]);
  }
}

/** 5 s, doubled with each receive up to 21 minutes, ±20 %: 1,000 receives last longer than queues keep a message, 14 days. */
export function backoffSeconds(receiveCount: number, random: number): number {
  const seconds = 5 * 2 ** Math.min(receiveCount - 1, 8);
  return seconds * (0.8 + 0.4 * random);
}
