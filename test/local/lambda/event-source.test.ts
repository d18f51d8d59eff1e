import type { SQSRecord } from 'aws-lambda';
import {
  type EventSource,
  type EventSourceOptions,
  startEventSource,
} from '../../../local/lambda/event-source';
import { failed } from '../../../local/lambda/instance';
import type { StackContext } from '../../../local/resources/context';
import { startEventSources } from '../../../local/resources/event-sources';
import { eventually } from '../../support/eventually';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
const running: EventSource[] = [];

beforeAll(async () => {
  queues = await startTestQueues();
});
afterEach(() => Promise.all(running.splice(0).map((source) => source.stop())));
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

/** Sends messages to a handler, which fails by returning an Error. */
function feed(
  queue: TestQueue,
  handler: (records: readonly SQSRecord[]) => unknown,
  options: Partial<EventSourceOptions> = {},
): EventSource {
  const source = startEventSource({
    endpoint: queues.url,
    queueUrl: queue.url,
    queueArn: queue.arn,
    region: 'eu-central-1',
    onProblem: (line) => {
      throw new Error(line);
    },
    async invoke({ Records }) {
      const payload = await handler(Records);
      return payload instanceof Error ? failed('Error', payload.message) : { ok: true, payload };
    },
    ...options,
  });
  running.push(source);
  return source;
}

it('passes messages to the function as Lambda does, and deletes them when it succeeds', async () => {
  const queue = await queueWith([]);
  await queue.send('hello', 'greeting');
  const seen: SQSRecord[] = [];
  feed(queue, (records) => void seen.push(...records));
  await eventually(async () => (await left(queue)) === 0);
  const Reason = { dataType: 'String', stringValue: 'greeting', stringListValues: [], binaryListValues: [] };
  expect(seen).toEqual([
    {
      messageId: expect.any(String),
      receiptHandle: expect.any(String),
      body: 'hello',
      attributes: expect.objectContaining({
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.any(String),
      }),
      messageAttributes: { Reason },
      md5OfBody: '5d41402abc4b2a76b9719d911017c592',
      eventSource: 'aws:sqs',
      eventSourceARN: queue.arn,
      awsRegion: 'eu-central-1',
    },
  ]);
});

it('lets a batch become visible again when the function fails', async () => {
  const queue = await queueWith(['once more'], '1');
  let attempts = 0;
  feed(queue, () => (++attempts === 1 ? new Error('not now') : null));
  await eventually(async () => (await left(queue)) === 0);
  expect(attempts).toBe(2);
});

const report = (...batchItemFailures: unknown[]) => ({ batchItemFailures });

it.each<[what: string, result: (ids: readonly string[]) => unknown, remaining: number, reports?: boolean]>([
  ['one message', ([first]) => report({ itemIdentifier: first }), 1],
  ['nothing', () => null, 0],
  ['an unknown identifier', () => report({ itemIdentifier: 'unknown' }), 2],
  ['a wrong key', () => report({ id: 'x' }), 2],
  [
    'one message, although its mapping ignores that',
    ([first]) => report({ itemIdentifier: first }),
    0,
    false,
  ],
])('a function that reports %s as failed', async (_, result, remaining, reports = true) => {
  const queue = await queueWith(['a', 'b']);
  let invocations = 0;
  const source = feed(
    queue,
    (records) => {
      invocations += 1;
      return result(records.map(({ messageId }) => messageId));
    },
    { reportBatchItemFailures: reports },
  );
  await eventually(() => invocations > 0);
  await source.stop();
  expect([invocations, await left(queue)]).toEqual([1, remaining]);
});

it('completes running invocations when it stops, and aborts a poll', async () => {
  const queue = await queueWith(['last']);
  let release: (value?: unknown) => void = () => undefined;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  let hasBegun = false;
  const source = feed(queue, () => {
    hasBegun = true;
    return released;
  });
  await eventually(() => hasBegun);
  const stopped = source.stop();
  release();
  await stopped;
  expect(await left(queue)).toBe(0);
  await feed(queue, () => null).stop();
}, 10_000);

it('runs up to its maximum of concurrent invocations, independently of other queues', async () => {
  const slow = await queueWith(['1', '2', '3', '4']);
  const quick = await queueWith(['1', '2', '3', '4']);
  const quickDone = eventually(async () => (await left(quick)) === 0);
  let most = 0;
  let atOnce = 0;
  const options = { batchSize: 1, maximumConcurrency: 2 };
  feed(
    slow,
    async ({ length }) => {
      most = Math.max(most, ++atOnce * length);
      await quickDone;
      atOnce -= 1;
    },
    options,
  );
  await eventually(() => atOnce === 2);
  feed(quick, () => null, options);
  await quickDone;
  await eventually(async () => (await left(slow)) === 0);
  expect(most).toBe(2);
});

it('runs the enabled mappings of a template', async () => {
  const [queue, unread] = [await queueWith(['a', 'b']), await queueWith(['c'])];
  const mapping = ({ arn: EventSourceArn }: TestQueue, Enabled: boolean) => ({
    ...{ logicalId: 'M', type: 'AWS::Lambda::EventSourceMapping', ref: '', attributes: {} },
    properties: {
      ...{ EventSourceArn, Enabled, FunctionName: 'deliver', ScalingConfig: { MaximumConcurrency: 7 } },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    },
  });
  const resources = new Map([queue, unread].map((each) => [each.arn, mapping(each, each === queue)]));
  const reserved: number[] = [];
  const invoked: string[] = [];
  const invoke = async ({ Records }: { readonly Records: readonly SQSRecord[] }) => {
    invoked.push(...Records.map(({ body }) => body));
    return { ok: true, payload: report({ itemIdentifier: Records[0]?.messageId }) };
  };
  const target = { invoke, reserve: (count: number) => reserved.push(count) };
  const services = { queues: queues.server, functions: { find: () => target } };
  const permissions = { authorizeRole: () => undefined };
  const context = { stack: { region: 'eu-central-1' }, services, permissions } as unknown as StackContext;
  const sources = startEventSources({ resources, outputs: {} }, context);
  await eventually(() => invoked.length === 2);
  await Promise.all(sources.map((source) => source.stop()));
  expect(reserved).toEqual([7]);
  expect([await left(queue), await left(unread)]).toEqual([1, 1]);
});
