import { randomUUID } from 'node:crypto';
import {
  type ChangeMessageVisibilityRequest,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SendMessageBatchRequest,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { sqsRecord } from '../../local/aws/lambda/event-sources';
import { type ReceivedMessage, startQueues } from '../../local/aws/sqs/queues';
import { localClient } from './aws-client';

const region = 'eu-central-1';

export type TestQueues = Awaited<ReturnType<typeof startTestQueues>>;
export type TestQueue = Awaited<ReturnType<TestQueues['create']>>;

/** Queues on this machine and the real SDK's client for them. */
export async function startTestQueues() {
  const server = await startQueues();
  const sqs = new SQSClient(localClient(server.url));
  const accepted: Partial<SendMessageBatchRequest & ChangeMessageVisibilityRequest>[] = [];
  sqs.middlewareStack.add(
    (next) => async (call) => {
      const answer = await next(call);
      accepted.push(call.input as (typeof accepted)[number]);
      return answer;
    },
    { step: 'initialize' },
  );

  async function create() {
    const attributes = { VisibilityTimeout: '30' };
    const queue = server.createQueue({ name: randomUUID(), region, attributes });
    const QueueUrl = queue.url;
    const calls = () => accepted.filter((call) => call.QueueUrl === QueueUrl);
    return {
      ...queue,
      async send(MessageBody: string) {
        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
      },
      /** Visible messages as Lambda passes them to a function. */
      async receive() {
        const all = { MessageSystemAttributeNames: ['All' as const], MessageAttributeNames: ['All'] };
        const input = { QueueUrl, MaxNumberOfMessages: 10, ...all };
        const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(input));
        const source = { queueArn: queue.arn, region };
        return Messages.map((message) => sqsRecord(message as ReceivedMessage, source));
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
      /** Messages sent in batches, including delayed ones. */
      sent: () =>
        calls().flatMap(({ Entries = [] }) =>
          Entries.map(({ MessageBody: body = '', MessageGroupId: group = '', DelaySeconds = 0 }) => {
            return { body, group, delaySeconds: DelaySeconds };
          }),
        ),
      visibilityTimeouts: () => calls().flatMap(({ VisibilityTimeout }) => VisibilityTimeout ?? []),
    };
  }

  return {
    sqs,
    server,
    create,
    async stop() {
      sqs.destroy();
      await server.stop();
    },
  };
}
