import type { SQSClient } from '@aws-sdk/client-sqs';
import { publish } from './publisher';

it('ends when the queue is gone, long before the last event, and tells why', async () => {
  const send = jest.fn(async () => {
    throw new Error('ECONNREFUSED');
  });
  const events = Array.from({ length: 1_000 }, (_, index) => ({
    id: `event-${index}`,
    organizationId: 'or-1',
    kind: 'storm.0',
  }));
  const published = publish({ send } as unknown as SQSClient, 'queue', events, 20);
  await expect(published).rejects.toThrow('ECONNREFUSED');
  expect(send).toHaveBeenCalledTimes(1);
});
