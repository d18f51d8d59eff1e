import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { bind } from '../shared/bind';
import { webhookLogCodes } from '../webhooks/log-codes';
import { createDependencies, type Dependencies } from './dependencies';
import { receive } from './receive';

/** Attempts the deliveries of a batch side by side. A message that is retried stays on the queue, hidden until then. */
export const createHandler =
  (dependencies: Dependencies) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const outcomes = await Promise.all(Records.map((record) => receiveSafely(record, dependencies)));
    if (dependencies.metrics.hasStoredMetrics()) dependencies.metrics.publishStoredMetrics();
    const kept = Records.filter((_, index) => outcomes[index] === 'kept');
    return { batchItemFailures: kept.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };

async function receiveSafely(record: SQSRecord, dependencies: Dependencies): Promise<'kept' | 'gone'> {
  try {
    return await receive(record, dependencies);
  } catch (error) {
    const { messageId } = record;
    const line = { logCode: webhookLogCodes.deliveryWaits, messageId, error: error as Error };
    dependencies.log.error('Webhook delivery failed with an internal error', line);
    return 'kept';
  }
}

export const handler = bind(createHandler, createDependencies);
