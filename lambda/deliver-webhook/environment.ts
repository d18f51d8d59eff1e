/**
 * The URLs of the two queues that it reads, one for each lane, of the one for what cannot be read, and of that of events;
 * `WEBHOOK_SECRETS_KEY_ID`: the ARN of the KMS key that secrets are derived by. The database's variables are added by
 * `Database.grantAccess`.
 */
export const variables = [
  'DELIVERY_QUEUE_URL',
  'RETRY_QUEUE_URL',
  'DELIVERY_DEAD_LETTER_QUEUE_URL',
  'EVENTS_QUEUE_URL',
  'WEBHOOK_SECRETS_KEY_ID',
] as const;

/** Seconds that an invocation may take: for the database to wake (20 s), a receiver (15 s), KMS, SQS and the attempt's row. */
export const timeoutSeconds = 75;
