import { DeleteMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createQueues } from '../../lambda/shared/queue';
import { recordLog } from '../support/log';
import { useMigratedDatabase } from '../support/region-database';
import { startTestQueues, type TestQueue } from '../support/sqs';
import { useShared } from '../support/use-shared';
import { addOrganization, addWebhook } from '../support/webhooks';

/** The content of a queue without visible messages. */
export const hidden = (count: number) => ({ visible: 0, hidden: count, delayed: 0 });

export const missing = 'http://127.0.0.1:1/000000000000/missing';

const queueNames = ['events', 'deliveries', 'retries', 'deadLetters'] as const;

/** A real database and real queues for the functions that fan out and deliver events. */
export function usePipeline() {
  const database = useMigratedDatabase();
  const log = recordLog();
  const queues = useShared(startTestQueues);
  beforeEach(async () => {
    log.clear();
    pipeline.organizationId = await addOrganization(database.owner);
    for (const name of queueNames) pipeline[name] = await queues.create();
  });

  const pipeline = {
    // New for each test.
    ...({} as Record<(typeof queueNames)[number], TestQueue>),
    organizationId: '',
    database,
    log,
    addWebhook: (change?: Parameters<typeof addWebhook>[2]) =>
      addWebhook(database.owner, pipeline.organizationId, change),

    /** The product's client for a queue. */
    queue: (url: string) => createQueues(() => queues.sqs)(url),
    queues: () => ({
      delivery: pipeline.queue(pipeline.deliveries.url),
      retry: pipeline.queue(pipeline.retries.url),
    }),

    /** Runs one batch as Lambda would: deletes what is not reported as failed. */
    async consume(from: TestQueue, handler: (event: SQSEvent) => Promise<SQSBatchResponse>) {
      const Records = await from.receive();
      const { batchItemFailures } = await handler({ Records });
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const { messageId, receiptHandle: ReceiptHandle } of Records)
        if (!failed.has(messageId))
          await queues.sqs.send(new DeleteMessageCommand({ QueueUrl: from.url, ReceiptHandle }));
      return { received: Records.length, failed: failed.size };
    },
  };
  return pipeline;
}
