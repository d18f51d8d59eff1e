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

it('sends more small messages than SQS takes at once', async () => {
  const messages = Array.from({ length: 23 }, (_, index) => ({ body: `${index}`, group: 'wh-1' }));
  expect(await queue.send(messages)).toEqual({ ok: true, value: null });
  expect(await received.count()).toMatchObject({ visible: 23 });
});

it('fails when SQS takes a request but refuses a message of it, and gives the reason', async () => {
  const refused = { body: 'a\u0000', group: 'wh-1' };
  expect(await queue.send([{ body: 'a', group: 'wh-1' }, refused])).toEqual({
    ok: false,
    error: { kind: 'queue_unavailable', reason: 'InvalidMessageContents' },
  });
  expect(await received.count()).toMatchObject({ visible: 1 });
});

it('sends what is sent at the same time in one request, ten messages in each', async () => {
  const requests = jest.spyOn(queues.sqs, 'send');
  const sent = await Promise.all(
    Array.from({ length: 15 }, (_, index) => queue.send([{ body: `${index}`, group: 'wh-1' }])),
  );
  expect(sent.every(({ ok }) => ok)).toBe(true);
  expect(requests).toHaveBeenCalledTimes(2);
  requests.mockRestore();
  expect(await received.count()).toMatchObject({ visible: 15 });
});

it('fails for the message that SQS refuses, not for those that went with it', async () => {
  const [good, bad] = await Promise.all(
    ['a', 'a\u0000'].map((body) => queue.send([{ body, group: 'wh-1' }])),
  );
  expect([good?.ok, bad?.ok]).toEqual([true, false]);
});
