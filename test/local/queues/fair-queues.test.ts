import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { type QueueServer, startQueues } from '../../../lib/local/queues/queues';

const region = 'eu-central-1';
let queues: QueueServer;
let client: SQSClient;
let QueueUrl: string;
let made = 0;

beforeAll(async () => {
  queues = await startQueues();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  client = new SQSClient({ endpoint: queues.url, region, credentials });
});
beforeEach(async () => {
  made += 1;
  ({ url: QueueUrl } = await queues.createQueue({ name: `fair-${made}`, region, attributes: {} }));
});
afterAll(async () => {
  client.destroy();
  await queues.stop();
});

async function send(count: number, MessageGroupId?: string): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [{ Id: '0', MessageBody: MessageGroupId ?? 'no group', MessageGroupId }],
      }),
    );
  }
}

async function receive(count: number) {
  const bodies: (string | undefined)[] = [];
  const handles: (string | undefined)[] = [];
  while (bodies.length < count) {
    const MaxNumberOfMessages = Math.min(10, count - bodies.length);
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages }));
    if (Messages.length === 0) break;
    bodies.push(...Messages.map(({ Body }) => Body));
    handles.push(...Messages.map(({ ReceiptHandle }) => ReceiptHandle));
  }
  return { bodies, handles };
}

const times = (count: number, body: string) => Array.from({ length: count }, () => body);

it('lets quiet groups pass one that has more than a tenth, and 30, of the messages in flight', async () => {
  await send(40, 'noisy');
  expect((await receive(30)).bodies).toEqual(times(30, 'noisy'));
  await send(2, 'quiet');
  await send(1);
  expect((await receive(5)).bodies).toEqual(['quiet', 'quiet', 'no group', 'noisy', 'noisy']);
});

it('keeps the order of arrival below 30 messages in flight', async () => {
  await send(31, 'first');
  await receive(29);
  await send(1, 'second');
  expect((await receive(3)).bodies).toEqual(['first', 'first', 'second']);
});

it('takes a group for quiet again when its messages are done with', async () => {
  await send(32, 'noisy');
  const { handles } = await receive(30);
  await send(1, 'quiet');
  await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: handles[0] }));
  expect((await receive(3)).bodies).toEqual(['noisy', 'noisy', 'quiet']);
});

it('serves of several noisy groups the one with the fewest messages in flight', async () => {
  await send(36, 'a');
  await receive(36);
  await send(34, 'b');
  await receive(34);
  await send(4, 'a');
  await send(4, 'b');
  expect((await receive(5)).bodies).toEqual(['b', 'b', 'a', 'b', 'a']);
});

it('counts single messages as batches', async () => {
  const MessageGroupId = 'noisy';
  for (let index = 0; index < 31; index += 1) {
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'noisy', MessageGroupId }));
  }
  await receive(30);
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'quiet', MessageGroupId: 'quiet' }));
  expect((await receive(2)).bodies).toEqual(['quiet', 'noisy']);
});

it('leaves the attributes of a message as they were sent', async () => {
  await send(1, 'group');
  const { Messages } = await client.send(
    new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ['All'] }),
  );
  expect(Messages?.[0]?.MessageAttributes).toBeUndefined();
});
