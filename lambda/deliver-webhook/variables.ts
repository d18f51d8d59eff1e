/**
 * URLs of the queues: one for each lane, the dead-letter queue for invalid messages, and the events queue.
 * `WEBHOOK_SECRETS_KEY_ID`: the ARN of the KMS key that derives secrets. `ENVIRONMENT`: its name, a dimension of the metrics.
 * `Database.grantAccess` adds the database's variables.
 */
export const variables = [
  'DELIVERY_QUEUE_URL',
  'RETRY_QUEUE_URL',
  'DELIVERY_DEAD_LETTER_QUEUE_URL',
  'EVENTS_QUEUE_URL',
  'WEBHOOK_SECRETS_KEY_ID',
  'ENVIRONMENT',
] as const;

/** The function's timeout in seconds: resuming the database (20 s), the receiver (15 s), KMS, SQS and the attempt's row. */
export const timeoutSeconds = 75;
