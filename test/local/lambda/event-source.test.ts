import type { SQSRecord } from 'aws-lambda';
import { type EventSource, startEventSource } from '../../../local/lambda/event-source';
import { failed } from '../../../local/lambda/instance';
import type { StackContext } from '../../../local/resources/deployment';
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
  limits: { readonly batchSize?: number; readonly maximumConcurrency?: number } = {},
): EventSource {
  const source = startEventSource({
    ...{ queues: queues.server, queueArn: queue.arn, region: 'eu-central-1' },
    ...{ batchSize: 10, maximumConcurrency: 5, ...limits },
    async invoke({ Records }) {
      const payload = await handler(Records);
      return payload instanceof Error ? failed('Error', payload.message) : { ok: true, payload };
    },
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
      ...{ messageId: expect.any(String), receiptHandle: expect.any(String), body: 'hello' },
      attributes: expect.objectContaining({ ApproximateReceiveCount: '1' }),
      messageAttributes: { Reason },
      md5OfBody: '5d41402abc4b2a76b9719d911017c592',
      ...{ eventSource: 'aws:sqs', eventSourceARN: queue.arn, awsRegion: 'eu-central-1' },
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

it.each<[what: string, result: (ids: readonly string[]) => unknown, remaining: number]>([
  ['one message', ([first]) => report({ itemIdentifier: first }), 1],
  ['nothing', () => null, 0],
  ['an unknown identifier', () => report({ itemIdentifier: 'unknown' }), 2],
  ['a wrong key', () => report({ id: 'x' }), 2],
])('a function that reports %s as failed', async (_, result, remaining) => {
  const queue = await queueWith(['a', 'b']);
  let invocations = 0;
  const source = feed(queue, (records) => {
    invocations += 1;
    return result(records.map(({ messageId }) => messageId));
  });
  await eventually(() => invocations > 0);
  await source.stop();
  expect([invocations, await left(queue)]).toEqual([1, remaining]);
});

it('runs up to its maximum of concurrent invocations, and completes them when it stops', async () => {
  const queue = await queueWith(['1', '2', '3', '4']);
  let [most, atOnce] = [0, 0];
  let release: (value?: unknown) => void = () => undefined;
  const released = new Promise((resolve) => {
    release = resolve;
  });
  const handle = async ({ length }: readonly SQSRecord[]) => {
    most = Math.max(most, ++atOnce * length);
    await released;
    atOnce -= 1;
  };
  const source = feed(queue, handle, { batchSize: 1, maximumConcurrency: 2 });
  await eventually(() => atOnce === 2);
  const stopped = source.stop();
  release();
  await stopped;
  expect([most, atOnce, await left(queue)]).toEqual([2, 0, 2]);
  // Aborts its poll of 20 s.
  await feed(await queueWith([]), () => null).stop();
}, 10_000);

describe('of a template', () => {
  const invoked: string[] = [];
  const reserved: number[] = [];
  const invoke = async ({ Records }: { readonly Records: readonly SQSRecord[] }) => {
    invoked.push(...Records.map(({ body }) => body));
    return { ok: true, payload: report({ itemIdentifier: Records[0]?.messageId }) };
  };
  function startMappings(mappings: readonly object[]) {
    const all = mappings.map((mapping, index) => ({
      ...{ logicalId: `M${index}`, type: 'AWS::Lambda::EventSourceMapping', ref: '', attributes: {} },
      properties: {
        ...{ BatchSize: 10, FunctionName: 'deliver', ScalingConfig: { MaximumConcurrency: 7 } },
        ...{ FunctionResponseTypes: ['ReportBatchItemFailures'], ...mapping },
      },
    }));
    const target = { invoke, reserve: (count: number) => reserved.push(count) };
    const services = { queues: queues.server, functions: { find: () => target } };
    const permissions = { requireRole: () => undefined };
    const context = { stack: { region: 'eu-central-1' }, services, permissions } as unknown as StackContext;
    const resources = new Map(all.map((each) => [each.logicalId, each]));
    return startEventSources({ resources, outputs: {} }, context);
  }

  it('runs those that are enabled', async () => {
    const [queue, unread] = [await queueWith(['a', 'b']), await queueWith(['c'])];
    const [EventSourceArn, disabled] = [queue.arn, { EventSourceArn: unread.arn, Enabled: false }];
    const sources = startMappings([{ EventSourceArn }, disabled]);
    await eventually(() => invoked.length === 2);
    await Promise.all(sources.map((source) => source.stop()));
    expect(reserved).toEqual([7]);
    expect([await left(queue), await left(unread)]).toEqual([1, 1]);
  });

  it('refuses one whose function cannot report failed messages', () => {
    const message = 'M0: FunctionResponseTypes undefined is not supported on this machine.';
    expect(() => startMappings([{ FunctionResponseTypes: undefined }])).toThrow(message);
  });
});
