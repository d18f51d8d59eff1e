import { longestCall, timeouts } from '../shared/timeouts';

/** `ENVIRONMENT`: its name, a dimension of the metrics. */
export const variables = [
  'DELIVERY_QUEUE_URL',
  'RETRY_QUEUE_URL',
  'DELIVERY_DEAD_LETTER_QUEUE_URL',
  'EVENTS_QUEUE_URL',
  'WEBHOOK_SECRETS_KEY_ID',
  'ENVIRONMENT',
] as const;

/** Milliseconds: find, secret, request, disabling or health; the wait for another call and a call of the database and SQS; hiding. */
export const worstCase =
  longestCall + timeouts.keys + timeouts.response + longestCall + 2 * longestCall + 3 * timeouts.queue;

/** The function's timeout in seconds. */
export const timeoutSeconds = 90;

/** Seconds after which its queues hand out the messages of a killed function again. */
export const visibilitySeconds = 95;
