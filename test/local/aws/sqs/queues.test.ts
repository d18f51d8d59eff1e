import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { startEventSources } from '../../../../local/aws/lambda/event-sources';
import { failed } from '../../../../local/aws/lambda/instance';
import { eventually } from '../../../support/eventually';
import { startTestQueues, type TestQueue, type TestQueues } from '../../../support/sqs';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
let queues: TestQueues;
beforeAll(async () => {
  queues = await startTestQueues();
});
afterAll(() => queues.stop());

/** A server that keeps its queue's messages in a file. */
async function keep(file: string) {
  const { server, sqs, stop } = await startTestQueues();
  const { url: QueueUrl } = server.createQueue({ name: 'kept', region: 'eu-central-1', attributes: {} });
  server.keep(file, ['kept']);
  return {
    send: (MessageBody: string, more: object = {}) =>
      sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more })),
    async receive() {
      const input = { QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
      return (await sqs.send(new ReceiveMessageCommand(input))).Messages ?? [];
    },
    stop,
  };
}

it('saves every message that it accepted until it stopped; those in flight are visible at the next start', async () => {
  const file = join(folder(), 'messages.json');
  const MessageAttributes = { Reason: { DataType: 'String', StringValue: 'server_error' } };
  const first = await keep(file);
  await first.send('in flight \u{1F44D}', { MessageAttributes });
  expect(await first.receive()).toHaveLength(1);
  await first.send('visible');
  await first.stop();

  const second = await keep(file);
  expect(await second.receive()).toMatchObject([
    { Body: 'in flight \u{1F44D}', MessageAttributes: { Reason: { StringValue: 'server_error' } } },
    { Body: 'visible' },
  ]);
  let accepted = 2;
  const producer = (async () => {
    for (;;) {
      await second.send('delayed', { DelaySeconds: 60 });
      accepted += 1;
    }
  })().catch(() => undefined);
  await eventually(() => accepted > 20);
  await second.stop();
  await producer;
  expect(JSON.parse(readFileSync(file, 'utf8')).length).toBeGreaterThanOrEqual(accepted);
});

describe('an event source', () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));
  const reserved: number[] = [];

  async function queueWith(...bodies: string[]) {
    const queue = await queues.create();
    for (const body of bodies) await queue.send(body);
    return queue;
  }
  const left = async (queue: TestQueue) => {
    const { visible, hidden } = await queue.count();
    return visible + hidden;
  };

  type Handler = (records: readonly SQSRecord[]) => unknown;

  /** Sends a queue's messages to a handler, which fails by returning an Error. */
  function feed(queue: TestQueue, handler: Handler, properties: object = {}) {
    const mapping = {
      logicalId: 'M',
      type: 'AWS::Lambda::EventSourceMapping',
      ref: '',
      attributes: {},
      properties: {
        BatchSize: 10,
        EventSourceArn: queue.arn,
        ScalingConfig: { MaximumConcurrency: 5 },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ...properties,
      },
    };
    const target = {
      role: '',
      reserve: (count: number) => void reserved.push(count),
      async invoke(event: unknown) {
        const payload = await handler((event as SQSEvent).Records);
        return payload instanceof Error ? failed('Error', payload.message) : ({ ok: true, payload } as const);
      },
    };
    const sources = startEventSources(new Map([['M', mapping]]), {
      stack: { name: '', region: 'eu-central-1' },
      queues: queues.server,
      functions: { find: () => target },
      permissions: { requireRole: () => undefined },
    } as never);
    const stop = () => Promise.all(sources.map((source) => source.stop()));
    stops.push(stop);
    return stop;
  }

  it('refuses a mapping whose function cannot report failed messages', async () => {
    const queue = await queues.create();
    expect(() => feed(queue, () => undefined, { FunctionResponseTypes: undefined })).toThrow(
      'M: FunctionResponseTypes undefined is not supported on this machine.',
    );
  });

  const report = (failure: object) => ({ batchItemFailures: [failure] });
  it.each<[what: string, result: Handler, remaining: number]>([
    ['reports one message', ([first]) => report({ itemIdentifier: first?.messageId }), 1],
    ['reports an unknown identifier', () => report({ itemIdentifier: 'unknown' }), 2],
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
    const released = new EventEmitter();
    const handle = async ({ length }: readonly SQSRecord[]) => {
      most = Math.max(most, ++atOnce * length);
      await once(released, 'release');
      atOnce -= 1;
    };
    const stop = feed(queue, handle, { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 2 } });
    await eventually(() => atOnce === 2);
    const stopped = stop();
    released.emit('release');
    await stopped;
    expect([most, atOnce, await left(queue), reserved.at(-1)]).toEqual([2, 0, 2, 2]);
  });
});
