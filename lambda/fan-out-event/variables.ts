import { longestCall, timeouts } from '../shared/timeouts';

/** The URLs of its queue and of that queue's dead letters, of the delivery queue, and of the retry queue. */
export const variables = [
  'EVENTS_QUEUE_URL',
  'EVENTS_DEAD_LETTER_QUEUE_URL',
  'DELIVERY_QUEUE_URL',
  'RETRY_QUEUE_URL',
] as const;

/**
 * Milliseconds of a batch at worst: `webhook.disabled` confirmed, the wait for another call to the database and a call, the same
 * for SQS, and hiding the message.
 */
export const worstCase = 3 * longestCall + 3 * timeouts.queue;

/** The function's timeout in seconds. */
export const timeoutSeconds = 56;

/** Seconds after which its queue hands out the messages of a killed function again. */
export const visibilitySeconds = 60;
