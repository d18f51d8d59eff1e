import { ChangeMessageVisibilityCommand, GetQueueUrlCommand, ListQueuesCommand } from '@aws-sdk/client-sqs';
import { startTestQueues, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
beforeAll(async () => {
  queues = await startTestQueues();
});
afterAll(() => queues.stop());

it('takes every character that SQS takes, and no other', async () => {
  const queue = await queues.create();
  const body = '{"a":"\u{1F44D} \u00fc \uFFFD"}';
  await queue.send(body);
  expect(await queue.receive()).toMatchObject([{ body }]);
  await expect(queue.send('a\u0001')).rejects.toThrow('Invalid characters');
});

it('gives queue URLs on the loopback address, which need no name resolution', async () => {
  const { url, arn } = await queues.create();
  const QueueName = url.split('/').at(-1);
  expect(url).toBe(`${queues.url}/000000000000/${QueueName}`);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  expect(arn).toBe(`arn:aws:sqs:eu-central-1:000000000000:${QueueName}`);
  expect((await queues.sqs.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl).toBe(url);
  expect((await queues.sqs.send(new ListQueuesCommand({}))).QueueUrls).toContain(url);
});

it('moves a message to the dead-letter queue after the receives that the redrive policy allows', async () => {
  const dead = await queues.create();
  const policy = { deadLetterTargetArn: dead.arn, maxReceiveCount: 2 };
  const source = await queues.create({ RedrivePolicy: JSON.stringify(policy) });
  await source.send('poison');
  for (const receiveCount of ['1', '2']) {
    const [message] = await source.receive();
    expect(message?.attributes.ApproximateReceiveCount).toBe(receiveCount);
    const ReceiptHandle = message?.receiptHandle;
    await queues.sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: source.url, ReceiptHandle, VisibilityTimeout: 0 }),
    );
  }
  expect(await source.receive()).toEqual([]);
  expect(await dead.receive()).toMatchObject([{ body: 'poison' }]);
});

it('refuses a queue whose attributes SQS would refuse, with the reason', async () => {
  await expect(queues.create({ VisibilityTimeout: '43201' })).rejects.toThrow(
    'SQS refused CreateQueue: Invalid value for the parameter VisibilityTimeout',
  );
});
