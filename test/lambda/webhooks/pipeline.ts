import { DeleteMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createQueues } from '../../../lambda/webhooks/queue';
import { recordLog } from '../../support/log';
import { type RegionDatabase, startMigratedDatabase } from '../../support/region-database';
import { startTestQueues, type TestQueue, type TestQueues } from '../../support/sqs';
import { addOrganization, addWebhook } from '../../support/webhooks';

/** The content of a queue. */
export const emptied = { visible: 0, hidden: 0, delayed: 0 };
export const hidden = { visible: 0, hidden: 1, delayed: 0 };

/** A queue that does not exist. */
export const missing = 'http://127.0.0.1:1/000000000000/missing';

/** A real database and real queues for the functions that fan out and deliver events. */
export function usePipeline(): Pipeline {
  const pipeline = new Pipeline();
  beforeAll(() => pipeline.start());
  beforeEach(() => pipeline.reset());
  afterAll(() => pipeline.stop());
  return pipeline;
}

class Pipeline {
  readonly log = recordLog();
  database!: RegionDatabase;
  organizationId!: string;
  events!: TestQueue;
  deliveries!: TestQueue;
  retries!: TestQueue;
  deadLetters!: TestQueue;
  private queues!: TestQueues;

  async start(): Promise<void> {
    [this.database, this.queues] = await Promise.all([startMigratedDatabase(), startTestQueues()]);
  }

  async reset(): Promise<void> {
    this.log.clear();
    for (const name of ['events', 'deliveries', 'retries', 'deadLetters'] as const)
      this[name] = await this.queues.create();
    this.organizationId = await addOrganization(this.database.owner);
  }

  async stop(): Promise<void> {
    await Promise.all([this.database.stop(), this.queues.stop()]);
  }

  addWebhook(change: Parameters<typeof addWebhook>[2] = {}): Promise<string> {
    return addWebhook(this.database.owner, this.organizationId, change);
  }

  /** The product's client for a queue. */
  queue(url: string) {
    return createQueues(() => this.queues.sqs)(url);
  }

  lanes() {
    return { first: this.queue(this.deliveries.url), second: this.queue(this.retries.url) };
  }

  /** Runs one batch as Lambda would: deletes what is not reported as failed. */
  async consume(from: TestQueue, handler: (event: SQSEvent) => Promise<SQSBatchResponse>) {
    const Records = await from.receive();
    const { batchItemFailures } = await handler({ Records });
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { messageId, receiptHandle: ReceiptHandle } of Records)
      if (!failed.has(messageId))
        await this.queues.sqs.send(new DeleteMessageCommand({ QueueUrl: from.url, ReceiptHandle }));
    return { received: Records.length, failed: failed.size };
  }

  /** The dead letters, each with the reason. */
  async refused() {
    const messages = await this.deadLetters.receive();
    return messages.map(({ body, messageAttributes }) => [body, messageAttributes.Reason?.stringValue]);
  }
}
