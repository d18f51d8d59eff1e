import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type QueueServer, startQueues } from '../../../lib/local/queues/queues';

const region = 'eu-central-1';
let queues: QueueServer;
let client: SQSClient;

beforeAll(async () => {
  queues = await startQueues();
  client = new SQSClient({
    endpoint: queues.url,
    region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
});

afterAll(async () => {
  client.destroy();
  await queues.stop();
});

async function receive(QueueUrl: string, WaitTimeSeconds = 0) {
  const answer = await client.send(
    new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds, MessageSystemAttributeNames: ['All'] }),
  );
  return answer.Messages ?? [];
}

it('takes every character that SQS takes, and no other', async () => {
  const { url: QueueUrl } = await queues.createQueue({ name: 'characters', region, attributes: {} });
  const MessageBody = '{"a":"\u{1F44D} \u00fc \uFFFD"}';
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  expect(await receive(QueueUrl)).toMatchObject([{ Body: MessageBody }]);
  await expect(client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a\u0001' }))).rejects.toThrow(
    'Invalid characters',
  );
});

it('gives queue URLs on the loopback address, which need no name resolution', async () => {
  const queue = await queues.createQueue({ name: 'plain', region, attributes: {} });
  expect(queue.url).toBe(`${queues.url}/000000000000/plain`);
  expect(queue.arn).toBe('arn:aws:sqs:eu-central-1:000000000000:plain');
  expect((await client.send(new GetQueueUrlCommand({ QueueName: 'plain' }))).QueueUrl).toBe(queue.url);
  expect((await client.send(new ListQueuesCommand({}))).QueueUrls).toContain(queue.url);
});

it('carries a message from the real SDK to the real SDK, once it is deleted never again', async () => {
  const { url } = await queues.createQueue({ name: 'carry', region, attributes: { VisibilityTimeout: '1' } });
  await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'hello' }));
  const [message] = await receive(url, 1);
  expect(message?.Body).toBe('hello');
  await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle }));
  expect(await receive(url, 2)).toEqual([]);
});

it('moves a message to the dead-letter queue after the number of receives that the redrive policy allows', async () => {
  const dead = await queues.createQueue({ name: 'dead', region, attributes: {} });
  const source = await queues.createQueue({
    name: 'source',
    region,
    attributes: { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 2 }) },
  });
  await client.send(new SendMessageCommand({ QueueUrl: source.url, MessageBody: 'poison' }));
  for (const receiveCount of ['1', '2']) {
    const [message] = await receive(source.url, 1);
    expect(message?.Attributes?.ApproximateReceiveCount).toBe(receiveCount);
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: source.url,
        ReceiptHandle: message?.ReceiptHandle,
        VisibilityTimeout: 0,
      }),
    );
  }
  expect(await receive(source.url)).toEqual([]);
  expect((await receive(dead.url))[0]?.Body).toBe('poison');
});

it('refuses a queue whose attributes SQS would refuse, with the reason', async () => {
  await expect(
    queues.createQueue({ name: 'wrong', region, attributes: { VisibilityTimeout: '43201' } }),
  ).rejects.toThrow('SQS refused CreateQueue: Invalid value for the parameter VisibilityTimeout');
});

it('listens on the loopback address only', () => {
  expect(new URL(queues.url).hostname).toBe('127.0.0.1');
});
