import {
  type ChangeMessageVisibilityRequest,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SendMessageBatchRequest,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { type Queue, startQueues } from '../../lib/local/queues/queues';

const region = 'eu-central-1';

/** Queues on this machine and the real SDK's client for them. */
export interface TestQueues {
  readonly sqs: SQSClient;
  readonly url: string;
  create(attributes?: Record<string, string>): Promise<TestQueue>;
  stop(): Promise<void>;
}

export interface TestQueue extends Queue {
  /** @param reason the attribute of a message that was set aside. @default - none */
  send(body: string, reason?: string): Promise<void>;
  /** What is visible now, as Lambda hands it to a function. */
  receive(): Promise<SQSRecord[]>;
  /** Messages in sight, hidden, and delayed. */
  count(): Promise<{ readonly visible: number; readonly hidden: number; readonly delayed: number }>;
  /** The message groups of what the client has sent to it in batches: the emulator tells them to nobody. */
  groups(): string[];
  /** The seconds for which the client has hidden messages of it. */
  waits(): number[];
}

/** A call that SQS has answered without an error. */
type Taken = Partial<SendMessageBatchRequest & ChangeMessageVisibilityRequest>;

export async function startTestQueues(): Promise<TestQueues> {
  const server = await startQueues();
  const sqs = new SQSClient({
    region,
    endpoint: server.url,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  let made = 0;
  const taken: Taken[] = [];
  sqs.middlewareStack.add(
    (next) => async (call) => {
      const answer = await next(call);
      taken.push(call.input as Taken);
      return answer;
    },
    { step: 'initialize' },
  );

  return {
    sqs,
    url: server.url,
    async create(attributes = { VisibilityTimeout: '30' }) {
      made += 1;
      const queue = await server.createQueue({ name: `queue-${made}`, region, attributes });
      const QueueUrl = queue.url;
      const calls = () => taken.filter((call) => call.QueueUrl === QueueUrl);
      return {
        ...queue,
        async send(body, reason) {
          const MessageAttributes = reason && { Reason: { DataType: 'String', StringValue: reason } };
          await sqs.send(
            new SendMessageCommand({
              QueueUrl,
              MessageBody: body,
              ...(MessageAttributes && { MessageAttributes }),
            }),
          );
        },
        async receive() {
          const { Messages } = await sqs.send(
            new ReceiveMessageCommand({
              QueueUrl,
              MaxNumberOfMessages: 10,
              MessageSystemAttributeNames: ['All'],
              MessageAttributeNames: ['All'],
            }),
          );
          return (Messages ?? []).map((message) => toRecord(message, queue.arn));
        },
        async count() {
          const { Attributes } = await sqs.send(
            new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
          );
          return {
            visible: Number(Attributes?.ApproximateNumberOfMessages),
            hidden: Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
            delayed: Number(Attributes?.ApproximateNumberOfMessagesDelayed),
          };
        },
        groups: () =>
          calls().flatMap(({ Entries = [] }) => Entries.map(({ MessageGroupId = '' }) => MessageGroupId)),
        waits: () => calls().flatMap(({ VisibilityTimeout }) => VisibilityTimeout ?? []),
      };
    },
    async stop() {
      sqs.destroy();
      await server.stop();
    },
  };
}

function toRecord(message: Message, arn: string): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: message.Attributes as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, { StringValue, DataType }]) => [
        name,
        { stringValue: StringValue ?? '', dataType: DataType ?? '' },
      ]),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
    awsRegion: region,
  };
}
