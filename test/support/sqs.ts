import { randomUUID } from 'node:crypto';
import { type ChangeMessageVisibilityRequest, type SendMessageBatchRequest, SQS } from '@aws-sdk/client-sqs';
import { sqsRecord } from '../../local/aws/lambda/event-sources';
import { type ReceivedMessage, startQueues } from '../../local/aws/sqs/queues';
import { localClient } from './aws-client';

const region = 'eu-central-1';

export type TestQueue = Awaited<ReturnType<Awaited<ReturnType<typeof startTestQueues>>['create']>>;

/** Queues on this machine and the real SDK's client for them. */
export async function startTestQueues() {
  const server = await startQueues();
  const sqs = new SQS(localClient(server.url));
  const accepted: Partial<SendMessageBatchRequest & ChangeMessageVisibilityRequest>[] = [];
  sqs.middlewareStack.add(
    (next) => async (call) => {
      const answer = await next(call);
      accepted.push(call.input as (typeof accepted)[number]);
      return answer;
    },
    { step: 'initialize' },
  );

  async function create(name: string = randomUUID()) {
    const queue = server.createQueue({ name, region, attributes: { VisibilityTimeout: '30' } });
    const QueueUrl = queue.url;
    const calls = () => accepted.filter((call) => call.QueueUrl === QueueUrl);
    return {
      ...queue,
      send: (MessageBody: string, more: object = {}) => sqs.sendMessage({ QueueUrl, MessageBody, ...more }),
      /** Visible messages as Lambda passes them to a function. */
      async receive() {
        const { Messages = [] } = await sqs.receiveMessage({
          QueueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        });
        const source = { queueArn: queue.arn, region };
        return Messages.map((message) => sqsRecord(message as ReceivedMessage, source));
      },
      async count() {
        const { Attributes } = await sqs.getQueueAttributes({ QueueUrl, AttributeNames: ['All'] });
        return {
          visible: Number(Attributes?.ApproximateNumberOfMessages),
          hidden: Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
          delayed: Number(Attributes?.ApproximateNumberOfMessagesDelayed),
        };
      },
      /** Messages sent in batches, including delayed ones. */
      sent: () =>
        calls().flatMap(({ Entries = [] }) =>
          Entries.map(({ MessageBody, MessageGroupId, DelaySeconds = 0 }) => ({
            body: MessageBody ?? '',
            group: MessageGroupId,
            delaySeconds: DelaySeconds,
          })),
        ),
      visibilityTimeouts: () => calls().flatMap(({ VisibilityTimeout }) => VisibilityTimeout ?? []),
    };
  }

  async function stop() {
    sqs.destroy();
    await server.stop();
  }
  return { sqs, server, create, stop };
}
