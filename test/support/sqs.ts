import {
  type ChangeMessageVisibilityRequest,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SendMessageBatchRequest,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import { type ReceivedMessage, sqsRecord } from '../../local/lambda/event-source';
import { type Queue, type QueueServer, startQueues } from '../../local/queues/queues';
import { localClient } from './aws-client';

const region = 'eu-central-1';

/** Queues on this machine and the real SDK's client for them. */
export interface TestQueues {
  readonly sqs: SQSClient;
  readonly server: QueueServer;
  readonly url: string;
  create(attributes?: Record<string, string>): Promise<TestQueue>;
  stop(): Promise<void>;
}

export interface TestQueue extends Queue {
  /** @param reason an attribute, as of a dead letter. @default - none */
  send(body: string, reason?: string): Promise<void>;
  /** Visible messages as Lambda passes them to a function. @param count maximum. @default 10 */
  receive(count?: number): Promise<SQSRecord[]>;
  count(): Promise<{ readonly visible: number; readonly hidden: number; readonly delayed: number }>;
  /** Messages sent in batches, including delayed ones. */
  sent(): { readonly body: string; readonly group: string; readonly delaySeconds: number }[];
  /** The visibility timeouts that the client has set. */
  visibilityTimeouts(): number[];
}

/** A successful SQS call. */
type Call = Partial<SendMessageBatchRequest & ChangeMessageVisibilityRequest>;

export async function startTestQueues(): Promise<TestQueues> {
  const server = await startQueues();
  const sqs = new SQSClient(localClient(server.url));
  let made = 0;
  const accepted: Call[] = [];
  sqs.middlewareStack.add(
    (next) => async (call) => {
      const answer = await next(call);
      accepted.push(call.input as Call);
      return answer;
    },
    { step: 'initialize' },
  );

  return {
    sqs,
    server,
    url: server.url,
    async create(attributes = { VisibilityTimeout: '30' }) {
      made += 1;
      const queue = await server.createQueue({ name: `queue-${made}`, region, attributes });
      const QueueUrl = queue.url;
      const calls = () => accepted.filter((call) => call.QueueUrl === QueueUrl);
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
        async receive(count = 10) {
          const { Messages } = await sqs.send(
            new ReceiveMessageCommand({
              QueueUrl,
              MaxNumberOfMessages: count,
              MessageSystemAttributeNames: ['All'],
              MessageAttributeNames: ['All'],
            }),
          );
          return (Messages ?? []).map((message) =>
            sqsRecord(message as ReceivedMessage, { queueArn: queue.arn, region }),
          );
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
        sent: () =>
          calls().flatMap(({ Entries = [] }) =>
            Entries.map(({ MessageBody: body = '', MessageGroupId: group = '', DelaySeconds = 0 }) => ({
              body,
              group,
              delaySeconds: DelaySeconds,
            })),
          ),
        visibilityTimeouts: () => calls().flatMap(({ VisibilityTimeout }) => VisibilityTimeout ?? []),
      };
    },
    async stop() {
      sqs.destroy();
      await server.stop();
    },
  };
}
