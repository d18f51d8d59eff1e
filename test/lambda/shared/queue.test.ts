import { backoffSeconds, createQueues, type Queue } from '../../../lambda/shared/queue';
import { startTestQueues, type TestQueue } from '../../support/sqs';
import { useShared } from '../../support/use-shared';

const queues = useShared(startTestQueues);
let received: TestQueue;
let queue: Queue;
beforeEach(async () => {
  received = await queues.create();
  queue = createQueues(() => queues.sqs)(received.url);
});

const message = (body: string) => ({ body, group: 'wh-1' });

it('1,000 receives last longer than the 14 days for which a queue keeps a message', () => {
  const waits = Array.from({ length: 1_000 }, (_, index) => backoffSeconds(index + 1, 0.5));
  expect(waits.reduce((sum, each) => sum + each)).toBeGreaterThan(14 * 86_400);
});

it.each([
  ['10 messages', 1, 3],
  ['256 KiB', 60_000, 6],
])('splits messages of concurrent calls into requests of at most %s', async (_, bytes, count) => {
  const requests = jest.spyOn(queues.sqs, 'send');
  const calls = Array.from({ length: 23 }, () => queue.send([message('x'.repeat(bytes))]));
  expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
  expect(requests).toHaveBeenCalledTimes(count);
  requests.mockRestore();
  expect(received.sent()).toHaveLength(23);
});

it('fails, with the reason, only the call whose message SQS refuses', async () => {
  const [good, bad] = await Promise.all([[message('a')], [message('b'), message('\0')]].map(queue.send));
  expect(good).toMatchObject({ ok: true });
  expect(bad).toMatchObject({ error: { kind: 'queue_unavailable', reason: 'InvalidMessageContents' } });
});

it('sends again, of several calls, only what SQS refused', async () => {
  const requests = jest.spyOn(queues.sqs, 'send');
  const refusal = { Failed: [{ Id: '1', SenderFault: false, Code: 'InternalError' }] };
  requests.mockImplementationOnce(async () => refusal);
  const sent = await Promise.all([['a', 'b', 'c'].map(message), [message('d')]].map(queue.send));
  requests.mockRestore();
  expect(sent.every(({ ok }) => ok)).toBe(true);
  expect(received.sent().map(({ body }) => body)).toEqual(['b']);
});

it.each([
  [1, 0, 4],
  [2, 1, 12],
  [9, 0.5, 1_280],
  [1_000, 0, 1_024],
])('after receive %i (random %d), a failed message waits for %d s', (receives, random, seconds) => {
  expect(backoffSeconds(receives, random)).toBeCloseTo(seconds);
});
