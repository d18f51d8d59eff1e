import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import {
  type EventSource,
  type EventSourceOptions,
  startEventSource,
} from '../../../local/lambda/event-source';
import { failed, type InvocationResult } from '../../../local/lambda/instance';
import { eventSourceMapping } from '../../../local/resources/event-sources';
import { eventually } from '../../support/eventually';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
let running: EventSource[] = [];

beforeAll(async () => {
  queues = await startTestQueues();
});
afterEach(async () => {
  await Promise.all(running.map((source) => source.stop()));
  running = [];
});
afterAll(() => queues.stop());

async function queueWith(bodies: readonly string[], VisibilityTimeout = '30'): Promise<TestQueue> {
  const queue = await queues.create({ VisibilityTimeout });
  await Promise.all(bodies.map((body) => queue.send(body)));
  return queue;
}

async function left(queue: TestQueue): Promise<number> {
  const { visible, hidden } = await queue.count();
  return visible + hidden;
}

function feed(
  queue: TestQueue,
  handler: (records: readonly SQSRecord[]) => unknown,
  options: Partial<EventSourceOptions> = {},
) {
  const batches: string[][] = [];
  running.push(
    startEventSource({
      endpoint: queues.url,
      queueUrl: queue.url,
      queueArn: queue.arn,
      region: 'eu-central-1',
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

it('hands messages to the function as Lambda does, and deletes them when it succeeds', async () => {
  const queue = await queueWith([]);
  const bytes = Buffer.from('bytes');
  await queues.sqs.send(
    new SendMessageCommand({
      QueueUrl: queue.url,
      MessageBody: 'hello',
      MessageAttributes: {
        kind: { DataType: 'String', StringValue: 'greeting' },
        raw: { DataType: 'Binary', BinaryValue: bytes },
      },
    }),
  );
  const seen: SQSRecord[] = [];
  feed(queue, (records) => void seen.push(...records));
  await eventually(async () => (await left(queue)) === 0);
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
        raw: {
          dataType: 'Binary',
          binaryValue: bytes.toString('base64'),
          stringListValues: [],
          binaryListValues: [],
        },
      },
      md5OfBody: '5d41402abc4b2a76b9719d911017c592',
      eventSource: 'aws:sqs',
      eventSourceARN: queue.arn,
      awsRegion: 'eu-central-1',
    },
  ]);
});

it('leaves a batch in the queue when the function fails, to be seen again', async () => {
  const queue = await queueWith(['once more'], '1');
  let attempts = 0;
  const batches = feed(queue, () => (++attempts === 1 ? new Error('not now') : null));
  await eventually(() => batches.length === 2);
  await eventually(async () => (await left(queue)) === 0);
});

it.each([
  ['an unknown identifier', [{ itemIdentifier: 'unknown' }]],
  ['an empty identifier', [{ itemIdentifier: '' }]],
  ['a wrong key', [{ id: 'x' }]],
])('keeps the whole batch when the report has %s', async (_, batchItemFailures) => {
  const queue = await queueWith(['a', 'b']);
  const batches = feed(queue, () => ({ batchItemFailures }), {
    reportBatchItemFailures: true,
    batchingWindowSeconds: 1,
  });
  await eventually(() => batches.flat().length === 2);
  await sleep(100);
  expect(await left(queue)).toBe(2);
});

it('deletes what a function without partial answers has taken, whatever it answers', async () => {
  const queue = await queueWith(['a']);
  feed(queue, (records) => ({ batchItemFailures: [{ itemIdentifier: records[0]?.messageId }] }));
  await eventually(async () => (await left(queue)) === 0);
});

it('stops at once while it waits, and after the running invocation otherwise', async () => {
  const queue = await queueWith(['last']);
  let ended = false;
  const batches = feed(queue, async () => {
    await sleep(200);
    ended = true;
  });
  await eventually(() => batches.length === 1);
  await running[0]?.stop();
  expect(ended).toBe(true);
  expect(await left(queue)).toBe(0);
  const begun = Date.now();
  feed(queue, () => null);
  await running[1]?.stop();
  expect(Date.now() - begun).toBeLessThan(500);
});

it('takes batches of the given size in the given time, and as many at once as are allowed', async () => {
  const queue = await queueWith(['bad', ...Array<string>(35).fill('good')]);
  let atOnce = 0;
  let most = 0;
  const batches = feed(
    queue,
    async (records) => {
      most = Math.max(most, ++atOnce);
      await eventually(() => most > 1);
      // In which a third would begin.
      await sleep(300);
      atOnce -= 1;
      const bad = records.filter(({ body }) => body === 'bad');
      return { batchItemFailures: bad.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    },
    { batchSize: 12, batchingWindowSeconds: 1, maximumConcurrency: 2, reportBatchItemFailures: true },
  );
  await eventually(async () => (await left(queue)) === 1);
  expect(batches.map(({ length }) => length)).toEqual([12, 12, 12]);
  expect(most).toBe(2);
});

describe('a mapping of a template', () => {
  const read = (properties: object) =>
    eventSourceMapping('M', {
      EventSourceArn: 'arn:aws:sqs:eu-central-1:000000000000:events',
      FunctionName: 'fan-out',
      ...properties,
    });

  it('is enabled, and the function answers for a batch as a whole, by default', () => {
    const defaults = { functionName: 'fan-out', enabled: true, reportBatchItemFailures: false };
    expect(read({})).toMatchObject(defaults);
  });

  it.each([
    [{ FilterCriteria: { Filters: [] } }, 'M: FilterCriteria is not supported on this machine.'],
    [{ EventSourceArn: 'arn:aws:kinesis:…' }, 'M: only queues feed functions on this machine'],
  ])('with %j is refused', (properties, problem) => {
    expect(() => read(properties)).toThrow(problem);
  });
});
