/**
 * The URLs of the queue that it reads, of the one for what it gives up, and of that of events; `WEBHOOK_SECRETS_KEY_ID`: the ARN of the KMS
 * key that secrets are derived by. The database's variables are added by `Database.grantAccess`.
 */
export const variables = [
  'DELIVERY_QUEUE_URL',
  'DELIVERY_DEAD_LETTER_QUEUE_URL',
  'EVENTS_QUEUE_URL',
  'WEBHOOK_SECRETS_KEY_ID',
] as const;

/** Seconds that an invocation may take: after it the function has done its work, has failed, or is dead. */
export const timeoutSeconds = 75;
