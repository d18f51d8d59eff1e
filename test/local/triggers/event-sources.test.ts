import { setTimeout as sleep } from 'node:timers/promises';
import { failed, type InvocationResult } from '../../../lib/local/function-runtime/result';
import { type Queue, type QueueServer, sqsRequest, startQueues } from '../../../lib/local/queues/queues';
import {
  type EventSource,
  type EventSourceOptions,
  type SqsRecord,
  startEventSource,
} from '../../../lib/local/triggers/event-sources';

const region = 'eu-central-1';
let queues: QueueServer;
let running: EventSource[] = [];
let count = 0;

beforeAll(async () => {
  queues = await startQueues();
});
afterEach(async () => {
  await Promise.all(running.map((source) => source.stop()));
  running = [];
});
afterAll(() => queues.stop());

const makeQueue = (attributes: Record<string, string> = { VisibilityTimeout: '1' }) =>
  queues.createQueue({ name: `queue-${++count}`, region, attributes });

const sqs = (action: string, queue: Queue, body: object) =>
  sqsRequest<Record<string, Record<string, string>>>({ url: queues.url, region }, action, {
    QueueUrl: queue.url,
    ...body,
  });

const send = (queue: Queue, ...bodies: string[]) =>
  Promise.all(bodies.map((MessageBody) => sqs('SendMessage', queue, { MessageBody })));

async function left(queue: Queue): Promise<number> {
  const { Attributes } = await sqs('GetQueueAttributes', queue, { AttributeNames: ['All'] });
  return (
    Number(Attributes?.ApproximateNumberOfMessages) +
    Number(Attributes?.ApproximateNumberOfMessagesNotVisible)
  );
}

function feed(
  queue: Queue,
  handler: (records: readonly SqsRecord[]) => unknown,
  options: Partial<EventSourceOptions> = {},
) {
  const batches: string[][] = [];
  running.push(
    startEventSource({
      endpoint: queues.url,
      queueUrl: queue.url,
      queueArn: queue.arn,
      region,
      onProblem: (line) => {
        throw new Error(line);
      },
      async invoke({ Records }): Promise<InvocationResult> {
        batches.push(Records.map((record) => record.body));
        const payload = await handler(Records);
        return payload instanceof Error ? failed('Error', payload.message) : { ok: true, payload };
      },
      ...options,
    }),
  );
  return batches;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('Waited 10 s in vain.');
    await sleep(20);
  }
}

it('hands messages to the function as Lambda does, and deletes them when it succeeds', async () => {
  const queue = await makeQueue();
  await sqs('SendMessage', queue, {
    MessageBody: 'hello',
    MessageAttributes: { kind: { DataType: 'String', StringValue: 'greeting' } },
  });
  const seen: SqsRecord[] = [];
  feed(queue, (records) => void seen.push(...records));
  await until(async () => (await left(queue)) === 0);
  expect(seen).toEqual([
    {
      messageId: expect.any(String),
      receiptHandle: expect.any(String),
      body: 'hello',
      attributes: expect.objectContaining({
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.any(String),
      }),
      messageAttributes: {
        kind: { dataType: 'String', stringValue: 'greeting', stringListValues: [], binaryListValues: [] },
      },
      md5OfBody: '5d41402abc4b2a76b9719d911017c592',
      eventSource: 'aws:sqs',
      eventSourceARN: queue.arn,
      awsRegion: region,
    },
  ]);
});

it('leaves a batch in the queue when the function fails, to be seen again', async () => {
  const queue = await makeQueue();
  await send(queue, 'once more');
  let attempts = 0;
  const batches = feed(queue, () => (++attempts === 1 ? new Error('not now') : null));
  await until(() => batches.length === 2);
  await until(async () => (await left(queue)) === 0);
});

it('keeps only the messages that the function reports, when the mapping says that it reports', async () => {
  const queue = await makeQueue();
  await send(queue, 'good', 'bad');
  const reject = (records: readonly SqsRecord[]) => ({
    batchItemFailures: records
      .filter(({ body }) => body === 'bad')
      .map(({ messageId }) => ({ itemIdentifier: messageId })),
  });
  const batches = feed(queue, reject, { reportBatchItemFailures: true });
  await until(() => batches.length >= 2);
  expect(batches.flat().filter((body) => body === 'good')).toHaveLength(1);
  expect(await left(queue)).toBe(1);
});

it.each([
  ['an unknown identifier', [{ itemIdentifier: 'nobody' }]],
  ['an empty identifier', [{ itemIdentifier: '' }]],
  ['a wrong key', [{ id: 'x' }]],
])('keeps the whole batch when the report has %s', async (_, batchItemFailures) => {
  const queue = await makeQueue({ VisibilityTimeout: '30' });
  await send(queue, 'a', 'b');
  const batches = feed(queue, () => ({ batchItemFailures }), {
    reportBatchItemFailures: true,
    batchingWindowSeconds: 1,
  });
  await until(() => batches.flat().length === 2);
  await sleep(100);
  expect(await left(queue)).toBe(2);
});

it('deletes what a function without partial answers has taken, whatever it answers', async () => {
  const queue = await makeQueue();
  await send(queue, 'a');
  feed(queue, (records) => ({ batchItemFailures: [{ itemIdentifier: records[0]?.messageId }] }));
  await until(async () => (await left(queue)) === 0);
});

it('never exceeds the batch size, and fills a batch within the window', async () => {
  const queue = await makeQueue({ VisibilityTimeout: '30' });
  await send(queue, ...Array.from({ length: 15 }, (_, index) => String(index)));
  const batches = feed(queue, () => null, { batchSize: 12, batchingWindowSeconds: 1 });
  await until(async () => (await left(queue)) === 0);
  expect(batches.map((batch) => batch.length)).toEqual([12, 3]);
});

it('never exceeds the concurrency of the mapping', async () => {
  const queue = await makeQueue({ VisibilityTimeout: '30' });
  await send(queue, ...Array.from({ length: 12 }, (_, index) => String(index)));
  let atOnce = 0;
  let most = 0;
  const slow = async () => {
    most = Math.max(most, ++atOnce);
    await sleep(30);
    atOnce -= 1;
  };
  feed(queue, slow, { batchSize: 1, maximumConcurrency: 3 });
  await until(async () => (await left(queue)) === 0);
  expect(most).toBe(3);
});

it('stops at once while it waits, and after the running invocation otherwise', async () => {
  const queue = await makeQueue();
  let ended = false;
  const batches = feed(queue, async () => {
    await sleep(200);
    ended = true;
  });
  await send(queue, 'last');
  await until(() => batches.length === 1);
  await running[0]?.stop();
  expect(ended).toBe(true);
  expect(await left(queue)).toBe(0);
  const begun = Date.now();
  feed(queue, () => null);
  await running[1]?.stop();
  expect(Date.now() - begun).toBeLessThan(500);
});
