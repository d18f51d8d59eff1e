import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { startEventSources } from '../../../../local/aws/lambda/event-sources';
import { failed } from '../../../../local/aws/lambda/instance';
import { eventually } from '../../../support/eventually';
import { startTestQueues } from '../../../support/sqs';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();

/** A queue of a server that keeps its messages in a file. */
async function keep(file: string) {
  const { server, create, stop } = await startTestQueues();
  const queue = await create('kept');
  server.keep(file, ['kept']);
  return { ...queue, stop };
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
    { body: 'in flight \u{1F44D}', messageAttributes: { Reason: { stringValue: 'server_error' } } },
    { body: 'visible' },
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

type Handler = (records: readonly SQSRecord[]) => unknown;

/** Sends the four messages of a queue to a handler, which fails by returning an Error. */
async function feed(handler: Handler, BatchSize = 10, MaximumConcurrency = 5) {
  const { server, create, stop: close } = await startTestQueues();
  const queue = await create();
  for (const body of ['1', '2', '3', '4']) await queue.send(body);
  const properties = {
    BatchSize,
    EventSourceArn: queue.arn,
    ScalingConfig: { MaximumConcurrency },
    FunctionResponseTypes: ['ReportBatchItemFailures'],
  };
  const mapping = { type: 'AWS::Lambda::EventSourceMapping', properties };
  const reserve = jest.fn();
  async function invoke(event: SQSEvent) {
    const payload = await handler(event.Records);
    return payload instanceof Error ? failed('Error', payload.message) : { ok: true, payload };
  }
  const sources = startEventSources(new Map([['M', mapping as never]]), {
    stack: { name: '', region: 'eu-central-1' },
    queues: server,
    functions: { find: () => ({ role: '', reserve, invoke }) },
    permissions: { requireRole: () => undefined },
  } as never);
  /** @returns how many messages remain */
  async function stop() {
    await Promise.all(sources.map((source) => source.stop()));
    const { visible, hidden } = await queue.count();
    await close();
    return visible + hidden;
  }
  return { reserve, stop };
}

const report = (failure: object) => ({ batchItemFailures: [failure] });
it.each<[what: string, result: Handler, remaining: number]>([
  ['reports one message', ([first]) => report({ itemIdentifier: first?.messageId }), 1],
  ['reports an unknown identifier', () => report({ itemIdentifier: 'unknown' }), 4],
  ['fails', () => new Error('not now'), 4],
])('an event source retains messages when its function %s', async (_, result, remaining) => {
  const handler = jest.fn(result);
  const { stop } = await feed(handler);
  await eventually(() => handler.mock.calls.length > 0);
  expect([await stop(), handler.mock.calls.length]).toEqual([remaining, 1]);
});

it('an event source runs up to its maximum of concurrent invocations, and completes them when it stops', async () => {
  let [most, atOnce] = [0, 0];
  const released = new EventEmitter();
  const handle: Handler = async ({ length }) => {
    most = Math.max(most, ++atOnce * length);
    await once(released, 'release');
    atOnce -= 1;
  };
  const { reserve, stop } = await feed(handle, 1, 2);
  await eventually(() => atOnce === 2);
  const remaining = stop();
  released.emit('release');
  expect([await remaining, most, atOnce, reserve.mock.calls]).toEqual([2, 2, 0, [[2]]]);
});
