import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { fail, ok, type Result } from '../../domain/result';
import { coalesce } from '../shared/coalesce';

/** The queue cannot be reached, or refuses. Some of the messages may have been sent all the same. */
export interface QueueUnavailable {
  readonly kind: 'queue_unavailable';
  /** For the log. */
  readonly reason: string;
}

export interface OutgoingMessage {
  readonly body: string;
  /**
   * Messages of one group share a fair queue's attention: a group with a backlog does not hold up the others.
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
   */
  readonly group: string;
  /** 0 to 900. @default 0 */
  readonly delaySeconds?: number;
  /** Why it is on a dead-letter queue: the message's attribute `Reason`. */
  readonly reason?: string;
}

export interface Queue {
  send(messages: readonly OutgoingMessage[]): Promise<Result<null, QueueUnavailable>>;
  /**
   * Sets the visibility timeout of a received message: seconds (0 to 43,200 after its receipt), rounded up, because a
   * message that comes early would come early again, at once and many times.
   */
  hide(receiptHandle: string, seconds: number): Promise<Result<null, QueueUnavailable>>;
}

/** Milliseconds for SQS to answer one request, the client's own retries included. */
const deadline = 5_000;
/** SQS takes 10 messages a request. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const maxBatchCount = 10;
/** Bytes of all messages of a request: what SQS took before 1 MiB was allowed, so no region refuses it. */
const maxBatchBytes = 256 * 1024;

/** The longest `DelaySeconds`. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html */
export const longestDelaySeconds = 900;

/**
 * Seconds until a message is received again after an internal error (database, KMS or SQS unavailable): 5 s, doubled with
 * each receive up to 15 minutes, ±20 %. With the queues' 1,000 receives that bridges ten days.
 *
 * @param receiveCount how often the message was received, this time included
 * @param random from 0 to 1
 */
export function backoffSeconds(receiveCount: number, random: number): number {
  const seconds = Math.min(900, 5 * 2 ** Math.min(receiveCount - 1, 10));
  return seconds * (0.8 + 0.4 * random);
}

/** @param options `sqs`: is asked for its client when there is something to send or to hide */
export function createQueue({ sqs, url }: { readonly sqs: () => SQSClient; readonly url: string }): Queue {
  const request = async (work: () => Promise<void>): Promise<Result<null, QueueUnavailable>> => {
    try {
      await work();
      return ok(null);
    } catch (error) {
      return fail({ kind: 'queue_unavailable', reason: error instanceof Error ? error.name : 'unknown' });
    }
  };

  const sendAll = (messages: readonly OutgoingMessage[]) =>
    request(async () => {
      for (const Entries of batches(messages.map(toEntry))) {
        const { Failed } = await sqs().send(new SendMessageBatchCommand({ QueueUrl: url, Entries }), {
          abortSignal: AbortSignal.timeout(deadline),
        });
        if (Failed?.length) throw Object.assign(new Error(), { name: Failed[0]?.Code ?? 'unknown' });
      }
    });

  return {
    // What a batch sends goes together. After a failure each is sent again alone, so that one cannot fail the others.
    send: coalesce(async (requests: readonly (readonly OutgoingMessage[])[]) => {
      const sent = await sendAll(requests.flat());
      if (sent.ok || requests.length === 1) return requests.map(() => sent);
      return Promise.all(requests.map(sendAll));
    }),
    hide: (receiptHandle, seconds) =>
      request(async () => {
        await sqs().send(
          new ChangeMessageVisibilityCommand({
            QueueUrl: url,
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: Math.ceil(seconds),
          }),
          { abortSignal: AbortSignal.timeout(deadline) },
        );
      }),
  };
}

function toEntry(message: OutgoingMessage, index: number): SendMessageBatchRequestEntry {
  return {
    Id: String(index),
    MessageBody: message.body,
    MessageGroupId: message.group,
    ...(message.delaySeconds ? { DelaySeconds: Math.round(message.delaySeconds) } : {}),
    ...(message.reason
      ? { MessageAttributes: { Reason: { DataType: 'String', StringValue: message.reason } } }
      : {}),
  };
}

function batches(entries: readonly SendMessageBatchRequestEntry[]): SendMessageBatchRequestEntry[][] {
  const result: SendMessageBatchRequestEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.MessageBody ?? '');
    const current = result.at(-1);
    if (!current || current.length === maxBatchCount || bytes + size > maxBatchBytes) {
      result.push([entry]);
      bytes = size;
    } else {
      current.push(entry);
      bytes += size;
    }
  }
  return result;
}
