import { longestCall, timeouts } from '../shared/timeouts';

/**
 * URLs of the delivery queue, the retry queue, the dead-letter queue for invalid messages, and the events queue.
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

/**
 * Milliseconds of a batch at worst: the database, KMS and the receiver before a webhook is disabled; then the wait for another
 * call to the database and a call, the same for SQS, and hiding the message.
 */
export const worstCase =
  longestCall + timeouts.keys + timeouts.response + longestCall + 2 * longestCall + 3 * timeouts.queue;

/** The function's timeout in seconds. */
export const timeoutSeconds = 90;

/** Seconds after which its queues hand out the messages of a killed function again. */
export const visibilitySeconds = 95;
