import type { OutputName } from '../../domain/outputs';
import { callAws, required } from '../aws';
import type { Target } from '../target';

/** A message of a dead-letter queue. */
export interface DeadLetter {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  /** Why it was set aside or given up; absent when SQS itself moved it, after its last receive. */
  readonly reason?: string;
  /** When it was sent: milliseconds since 1970. */
  readonly sentAt: number;
}

/** What a dead letter becomes. */
export interface Redelivery {
  readonly body: string;
  /** The message group, which keeps the queue fair. */
  readonly group: string;
}

export interface DeadLetterQueue {
  /** How many messages there are, by SQS's approximation. */
  count(): Promise<number>;
  /** Receives some messages, hidden from others for five minutes; none when the queue is empty. */
  receive(limit: number): Promise<readonly DeadLetter[]>;
  /** Sends it to the queue that it came from, then deletes it here: interrupted in between, it goes out twice. */
  redeliver(letter: DeadLetter, redelivery: Redelivery): Promise<void>;
  /** Lets others see it again. */
  putBack(letter: DeadLetter): Promise<void>;
}

/** Seconds. A run that is killed leaves what it has taken out of sight for so long. */
const visibilityTimeout = 300;
/** Of one call: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html */
const maxReceived = 10;

/**
 * Opens a dead-letter queue, and the queue that its messages came from. Needs `sqs:GetQueueAttributes`,
 * `ReceiveMessage`, `DeleteMessage` and `ChangeMessageVisibility` on the first, `sqs:SendMessage` on the second.
 *
 * @param outputs the stack outputs with their URLs
 */
export async function openDeadLetterQueue(
  target: Target,
  outputs: { readonly deadLetters: OutputName; readonly queue: OutputName },
): Promise<DeadLetterQueue> {
  const sdk = await import('@aws-sdk/client-sqs');
  const client = new sdk.SQSClient(target.clientSettings('sqs'));
  const QueueUrl = target.output(outputs.deadLetters);
  const destination = target.output(outputs.queue);

  return {
    async count() {
      const request = new sdk.GetQueueAttributesCommand({
        QueueUrl,
        AttributeNames: ['ApproximateNumberOfMessages'],
      });
      const { Attributes } = await callAws(target, 'sqs:GetQueueAttributes', (options) =>
        client.send(request, options),
      );
      const count = Attributes?.ApproximateNumberOfMessages;
      return Number(required('sqs:GetQueueAttributes', 'ApproximateNumberOfMessages', count));
    },

    async receive(limit) {
      const request = new sdk.ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: Math.min(maxReceived, limit),
        VisibilityTimeout: visibilityTimeout,
        // Without a wait, SQS asks some of its servers only, and may find nothing where there is something.
        WaitTimeSeconds: 1,
        MessageAttributeNames: ['Reason'],
        MessageSystemAttributeNames: ['SentTimestamp'],
      });
      const { Messages = [] } = await callAws(target, 'sqs:ReceiveMessage', (options) =>
        client.send(request, options),
      );
      return Messages.map(({ MessageId, ReceiptHandle, Body, MessageAttributes, Attributes }) => {
        const reason = MessageAttributes?.Reason?.StringValue;
        return {
          messageId: MessageId ?? '',
          receiptHandle: ReceiptHandle ?? '',
          body: Body ?? '',
          ...(reason && { reason }),
          sentAt: Number(Attributes?.SentTimestamp ?? 0),
        };
      });
    },

    async redeliver({ receiptHandle }, { body, group }) {
      const message = { QueueUrl: destination, MessageBody: body, MessageGroupId: group };
      await callAws(target, 'sqs:SendMessage', (options) =>
        client.send(new sdk.SendMessageCommand(message), options),
      );
      const sent = new sdk.DeleteMessageCommand({ QueueUrl, ReceiptHandle: receiptHandle });
      await callAws(target, 'sqs:DeleteMessage', (options) => client.send(sent, options));
    },

    async putBack({ receiptHandle }) {
      const visible = new sdk.ChangeMessageVisibilityCommand({
        QueueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: 0,
      });
      await callAws(target, 'sqs:ChangeMessageVisibility', (options) => client.send(visible, options));
    },
  };
}
