import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { StackContext } from '../../../../local/aws/cloudformation/deployment';
import { startEventSources } from '../../../../local/aws/lambda/event-source-mappings';
import { failed } from '../../../../local/aws/lambda/instance';
import { startQueues } from '../../../../local/aws/sqs/queues';
import { localClient } from '../../../support/aws-client';
import { eventually } from '../../../support/eventually';
import { startTestQueues, type TestQueue, type TestQueues } from '../../../support/sqs';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
let queues: TestQueues;
beforeAll(async () => {
  queues = await startTestQueues();
});
afterAll(() => queues.stop());

it('accepts exactly the characters that SQS accepts', async () => {
  const queue = await queues.create();
  const body = '{"a":"\u{1F44D} \u00fc \uFFFD"}';
  await queue.send(body);
  expect(await queue.receive()).toMatchObject([{ body }]);
  await expect(queue.send('a\u0001')).rejects.toThrow('Invalid characters');
});

it('saves visible and hidden messages for the next start', async () => {
  const file = join(folder(), 'messages.json');
  const queue = await queues.create();
  const name = String(queue.url.split('/').at(-1));
  await queue.send('hidden', 'server_error');
  await queue.receive();
  await queue.send('visible', 'server_error');
  queues.server.save(file, [name]);
  const later = await startQueues();
  const { url: QueueUrl } = later.createQueue({ name, region: 'eu-central-1', attributes: {} });
  for (const _ of [1, 2]) later.restore(file);
  expect(existsSync(file)).toBe(false);
  const sqs = new SQSClient(localClient(later.url));
  const receive = { QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
  const { Messages } = await sqs.send(new ReceiveMessageCommand(receive));
  const MessageAttributes = { Reason: { StringValue: 'server_error' } };
  expect(Messages).toMatchObject([{ Body: 'visible', MessageAttributes }]);
  later.save(file, [name]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject([{ body: 'hidden' }, { body: 'visible' }]);
  sqs.destroy();
  await later.stop();
});

describe('an event source', () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));
  const reserved: number[] = [];

  async function queueWith(...bodies: string[]): Promise<TestQueue> {
    const queue = await queues.create();
    await Promise.all(bodies.map((body) => queue.send(body)));
    return queue;
  }

  async function left(queue: TestQueue): Promise<number> {
    const { visible, hidden } = await queue.count();
    return visible + hidden;
  }

  /** Sends a queue's messages to a handler, which fails by returning an Error. */
  function feed(
    queue: TestQueue,
    handler: (records: readonly SQSRecord[]) => unknown,
    properties: object = {},
  ): () => Promise<unknown> {
    const mapping = {
      ...{ logicalId: 'M', type: 'AWS::Lambda::EventSourceMapping', ref: '', attributes: {} },
      properties: {
        ...{ BatchSize: 10, EventSourceArn: queue.arn, ScalingConfig: { MaximumConcurrency: 5 } },
        ...{ FunctionResponseTypes: ['ReportBatchItemFailures'], ...properties },
      },
    };
    const target = {
      reserve: (count: number) => reserved.push(count),
      async invoke({ Records }: SQSEvent) {
        const payload = await handler(Records);
        return payload instanceof Error ? failed('Error', payload.message) : { ok: true, payload };
      },
    };
    const services = { queues: queues.server, functions: { find: () => target } };
    const permissions = { requireRole: () => undefined };
    const context = { stack: { region: 'eu-central-1' }, services, permissions } as unknown as StackContext;
    const sources = startEventSources({ resources: new Map([['M', mapping]]), outputs: {} }, context);
    const stop = () => Promise.all(sources.map((source) => source.stop()));
    stops.push(stop);
    return stop;
  }

  it('passes messages to the function as Lambda does, and deletes them when it succeeds', async () => {
    const queue = await queueWith();
    await queue.send('hello', 'greeting');
    const seen: SQSRecord[] = [];
    feed(queue, (records) => void seen.push(...records));
    await eventually(async () => (await left(queue)) === 0);
    const text = { dataType: 'String', stringValue: 'greeting', stringListValues: [], binaryListValues: [] };
    expect(seen).toEqual([
      {
        ...{ messageId: expect.any(String), receiptHandle: expect.any(String), body: 'hello' },
        attributes: expect.objectContaining({ ApproximateReceiveCount: '1' }),
        messageAttributes: { Reason: text },
        md5OfBody: '5d41402abc4b2a76b9719d911017c592',
        ...{ eventSource: 'aws:sqs', eventSourceARN: queue.arn, awsRegion: 'eu-central-1' },
      },
    ]);
  });

  const report = (failure: object) => ({ batchItemFailures: [failure] });
  it.each<[what: string, result: (records: readonly SQSRecord[]) => unknown, remaining: number]>([
    ['reports one message', ([first]) => report({ itemIdentifier: first?.messageId }), 1],
    ['reports an unknown identifier', () => report({ itemIdentifier: 'unknown' }), 2],
    ['reports a wrong key', () => report({ id: 'x' }), 2],
    ['fails', () => new Error('not now'), 2],
  ])('retains messages when the function %s', async (_, result, remaining) => {
    const queue = await queueWith('a', 'b');
    let invocations = 0;
    const stop = feed(queue, (records) => {
      invocations += 1;
      return result(records);
    });
    await eventually(() => invocations > 0);
    await stop();
    expect([invocations, await left(queue)]).toEqual([1, remaining]);
  });

  it('runs up to its maximum of concurrent invocations, and completes them when it stops', async () => {
    const queue = await queueWith('1', '2', '3', '4');
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
    const stop = feed(queue, handle, { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 2 } });
    await eventually(() => atOnce === 2);
    const stopped = stop();
    release();
    await stopped;
    expect([most, atOnce, await left(queue), reserved.at(-1)]).toEqual([2, 0, 2, 2]);
    // Aborts its poll of 20 s.
    await feed(await queueWith(), () => null)();
  }, 10_000);

  it('does not run when it is disabled, and is refused if the function cannot report messages', async () => {
    const queue = await queueWith('a');
    const started = reserved.length;
    feed(queue, () => null, { Enabled: false });
    expect(reserved).toHaveLength(started);
    const message = 'M: FunctionResponseTypes undefined is not supported on this machine.';
    expect(() => feed(queue, () => null, { FunctionResponseTypes: undefined })).toThrow(message);
  });
});
