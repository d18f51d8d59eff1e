import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startQueues } from '../../../local/queues/queues';
import { localClient } from '../../support/aws-client';
import { startTestQueues, type TestQueues } from '../../support/sqs';
import { temporaryFolder } from '../../support/temporary-folder';

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

it('refuses a queue whose attributes SQS would refuse, with the reason', async () => {
  const message = 'Invalid value for the parameter VisibilityTimeout';
  await expect(queues.create({ VisibilityTimeout: '43201' })).rejects.toThrow(message);
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
  expect(require(file)).toMatchObject([{ body: 'hidden' }, { body: 'visible' }]);
  sqs.destroy();
  await later.stop();
});
