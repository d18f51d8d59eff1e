import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { type Delivery, parseDelivery } from '../../lambda/webhooks/delivery';

/** Messages of a queue: in sight, hidden and delayed. */
async function countMessages(sqs: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  );
  return (
    Number(Attributes?.ApproximateNumberOfMessages) +
    Number(Attributes?.ApproximateNumberOfMessagesNotVisible) +
    Number(Attributes?.ApproximateNumberOfMessagesDelayed)
  );
}

/** Messages of several queues. */
export async function countAll(sqs: SQSClient, queueUrls: readonly string[]): Promise<number> {
  const counts = await Promise.all(queueUrls.map((url) => countMessages(sqs, url)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Waits until all of the queues are empty.
 *
 * @param patience milliseconds
 * @returns the number of messages that are left when the patience ends
 */
export async function drain(sqs: SQSClient, queueUrls: readonly string[], patience: number): Promise<number> {
  const deadline = Date.now() + patience;
  for (;;) {
    // One after the other, in the direction that messages take: what has left the first is seen in the second.
    let left = 0;
    for (const url of queueUrls) left += await countMessages(sqs, url);
    if (left === 0 || Date.now() > deadline) return left;
    await sleep(100);
  }
}

export interface DeadLetter {
  /** Undefined when the message is no delivery. */
  readonly delivery: Delivery | undefined;
  /** The attribute `Reason`. */
  readonly reason: string | undefined;
  /** When it was put there: milliseconds since 1970. */
  readonly sentAt: number;
}

/** Takes everything from a dead-letter queue. */
export async function takeDeadLetters(sqs: SQSClient, queueUrl: string): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    if (Messages.length === 0) return letters;
    for (const { Body = '', Attributes, MessageAttributes } of Messages) {
      const delivery = parseDelivery(Body);
      letters.push({
        delivery: delivery.ok ? delivery.value : undefined,
        reason: MessageAttributes?.Reason?.StringValue,
        sentAt: Number(Attributes?.SentTimestamp),
      });
    }
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  }
}
