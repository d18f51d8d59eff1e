import { longestCall, timeouts } from '../shared/timeouts';

export const variables = [
  'EVENTS_QUEUE_URL',
  'EVENTS_DEAD_LETTER_QUEUE_URL',
  'DELIVERY_QUEUE_URL',
  'RETRY_QUEUE_URL',
] as const;

/**
 * Milliseconds that one message can take. Confirming `webhook.disabled`; a call of the database and one of SQS, each after the
 * one in progress; at last hiding the message.
 */
export const worstCase = 3 * longestCall + 3 * timeouts.queue;

/** The function's timeout in seconds. */
export const timeoutSeconds = 56;

/** Seconds after which its queue hands out the messages of a killed function again. */
export const visibilitySeconds = 60;
