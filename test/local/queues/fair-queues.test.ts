import { DeleteMessageCommand, SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
let queue: TestQueue;

beforeAll(async () => {
  queues = await startTestQueues();
});
beforeEach(async () => {
  queue = await queues.create();
});
afterAll(() => queues.stop());

async function send(count: number, MessageGroupId?: string): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const message = { MessageBody: MessageGroupId ?? 'no group', MessageGroupId };
    // Single messages and batches count alike.
    const command =
      index % 2 === 0
        ? new SendMessageCommand({ QueueUrl: queue.url, ...message })
        : new SendMessageBatchCommand({ QueueUrl: queue.url, Entries: [{ Id: '0', ...message }] });
    await queues.sqs.send(command as SendMessageCommand);
  }
}

async function receive(count: number) {
  const records = [];
  while (records.length < count) {
    const batch = await queue.receive(Math.min(10, count - records.length));
    if (batch.length === 0) break;
    records.push(...batch);
  }
  return { bodies: records.map(({ body }) => body), records };
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
  const { records } = await receive(30);
  await send(1, 'quiet');
  const ReceiptHandle = records[0]?.receiptHandle;
  await queues.sqs.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle }));
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

it('leaves the attributes of a message as they were sent', async () => {
  await send(2, 'group');
  expect((await receive(2)).records.map(({ messageAttributes }) => messageAttributes)).toEqual([{}, {}]);
});
