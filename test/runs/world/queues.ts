import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type Delivery, parseDelivery } from '../../../domain/delivery';
import { parseEvent } from '../../../domain/event';
import { region as ownRegion } from './region';

export const createSqs = (endpoint = '', region = ownRegion): SQSClient =>
  new SQSClient({
    region,
    endpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

/** The messages of all these queues: visible, hidden and delayed. */
export async function countMessages(sqs: SQSClient, queueUrls: readonly string[]): Promise<number> {
  let count = 0;
  // In the direction that messages take: what has left the first queue is seen in the second.
  for (const QueueUrl of queueUrls) {
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
    );
    count += Number(Attributes?.ApproximateNumberOfMessages);
    count += Number(Attributes?.ApproximateNumberOfMessagesNotVisible);
    count += Number(Attributes?.ApproximateNumberOfMessagesDelayed);
  }
  return count;
}

/**
 * Waits until the queues are empty.
 *
 * @param patience milliseconds
 * @returns the messages that are left then
 */
export async function drain(sqs: SQSClient, queueUrls: readonly string[], patience: number): Promise<number> {
  const deadline = Date.now() + patience;
  for (;;) {
    const left = await countMessages(sqs, queueUrls);
    if (left === 0 || Date.now() > deadline) return left;
    await sleep(100);
  }
}

export interface DeadLetter {
  /** Undefined when the message is no delivery. */
  readonly delivery: Delivery | undefined;
  /** Undefined when the message holds no event. */
  readonly eventId: string | undefined;
  /** The attribute `Reason`. */
  readonly reason: string | undefined;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
}

/** Takes everything from a dead-letter queue. */
export async function takeDeadLetters(sqs: SQSClient, queueUrl: string | undefined): Promise<DeadLetter[]> {
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
      const [delivery, event] = [parseDelivery(Body), parseEvent(Body)];
      letters.push({
        delivery: delivery.ok ? delivery.value : undefined,
        eventId: delivery.ok ? delivery.value.eventId : event.ok ? event.value.id : undefined,
        reason: MessageAttributes?.Reason?.StringValue,
        sentAt: Number(Attributes?.SentTimestamp),
      });
    }
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  }
}
