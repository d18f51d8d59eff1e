/** The URLs of its queue and of that queue's dead letters, and of the two queues for deliveries, one for each lane. */
export const variables = [
  'EVENTS_QUEUE_URL',
  'EVENTS_DEAD_LETTER_QUEUE_URL',
  'DELIVERY_QUEUE_URL',
  'RETRY_QUEUE_URL',
] as const;
