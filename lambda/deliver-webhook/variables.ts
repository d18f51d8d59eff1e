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

/**
 * Milliseconds that one message can take. Finding the webhook, deriving its secret, the request, disabling or judging its
 * health; then a call of the database and one of SQS, each after the one in progress; at last hiding the message.
 */
export const worstCase =
  longestCall + timeouts.keys + timeouts.response + longestCall + 2 * longestCall + 3 * timeouts.queue;

/** The function's timeout in seconds. */
export const timeoutSeconds = 90;

/** Seconds after which its queues hand out the messages of a killed function again. */
export const visibilitySeconds = 95;
