import type { Environment } from '../../../lib/environment/environment';
import { environments } from '../../../lib/environments';
import {
  type DeadLetter,
  type DeadLetterQueue,
  openDeadLetterQueue,
} from '../../../lib/operations/redeliver/dead-letter-queue';
import type { Target } from '../../../lib/operations/target';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';

let queues: TestQueues;
let deadLetters: TestQueue;
let deliveries: TestQueue;
beforeAll(async () => {
  queues = await startTestQueues();
});
beforeEach(async () => {
  [deadLetters, deliveries] = await Promise.all([queues.create(), queues.create()]);
});
afterAll(() => queues.stop());

/** @param to the URL of the queue that the letters came from */
const open = (to: string): Promise<DeadLetterQueue> => {
  const [environment] = environments as readonly [Environment];
  const target: Target = {
    environment,
    local: true,
    logs: '',
    output: (name) => (name === 'from' ? deadLetters.url : to),
    offers: () => true,
    clientSettings: () => ({
      region: environment.region,
      endpoint: queues.url,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
  };
  return openDeadLetterQueue(target, { deadLetters: 'from', queue: 'to' });
};
const redelivery = { body: 'again', group: 'wh-1' };

it('deletes a letter that was sent', async () => {
  await deadLetters.send('a letter', 'server_error');
  const queue = await open(deliveries.url);
  const [letter] = await queue.receive(1);
  expect(letter).toMatchObject({ body: 'a letter', reason: 'server_error' });
  await queue.redeliver(letter as DeadLetter, redelivery);
  expect((await deliveries.receive()).map(({ body }) => body)).toEqual(['again']);
  expect(await deadLetters.count()).toMatchObject({ visible: 0, hidden: 0 });
});

it('keeps a letter that was refused', async () => {
  await deadLetters.send('a letter');
  const queue = await open(`${queues.url}/000000000000/gone`);
  const [letter] = await queue.receive(1);
  await expect(queue.redeliver(letter as DeadLetter, redelivery)).rejects.toThrow('sqs:SendMessage failed');
  expect(await deadLetters.count()).toMatchObject({ hidden: 1 });
  await queue.putBack(letter as DeadLetter);
  expect(await deadLetters.count()).toMatchObject({ visible: 1, hidden: 0 });
});
