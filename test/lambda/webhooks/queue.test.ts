import { createQueues, type Queue } from '../../../lambda/webhooks/queue';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
let received: TestQueue;
let queue: Queue;
beforeAll(async () => {
  queues = await startTestQueues();
});
beforeEach(async () => {
  received = await queues.create();
  queue = createQueues(() => queues.sqs)(received.url);
});
afterAll(() => queues.stop());

it.each([
  ['10 messages', 1, 3],
  ['256 KiB', 60_000, 6],
])('splits messages into requests of at most %s', async (_, bytes, count) => {
  const requests = jest.spyOn(queues.sqs, 'send');
  const messages = Array.from({ length: 23 }, () => ({ body: 'x'.repeat(bytes), group: 'wh-1' }));
  expect(await queue.send(messages)).toEqual({ ok: true, value: null });
  expect(requests).toHaveBeenCalledTimes(count);
  requests.mockRestore();
  expect(await received.count()).toMatchObject({ visible: 23 });
});

it('fails with the reason when SQS refuses one message of a request', async () => {
  const refused = { body: 'a\u0000', group: 'wh-1' };
  expect(await queue.send([{ body: 'a', group: 'wh-1' }, refused])).toEqual({
    ok: false,
    error: { kind: 'queue_unavailable', reason: 'InvalidMessageContents' },
  });
  expect(await received.count()).toMatchObject({ visible: 1 });
});

it('shares requests between concurrent calls', async () => {
  const requests = jest.spyOn(queues.sqs, 'send');
  const sent = await Promise.all(
    Array.from({ length: 15 }, (_, index) => queue.send([{ body: `${index}`, group: 'wh-1' }])),
  );
  expect(sent.every(({ ok }) => ok)).toBe(true);
  expect(requests).toHaveBeenCalledTimes(2);
  requests.mockRestore();
  expect(await received.count()).toMatchObject({ visible: 15 });
});

it('fails only for the call whose message SQS refuses', async () => {
  const [good, bad] = await Promise.all(
    ['a', 'a\u0000'].map((body) => queue.send([{ body, group: 'wh-1' }])),
  );
  expect([good?.ok, bad?.ok]).toEqual([true, false]);
});
