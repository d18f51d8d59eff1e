/** `CHECK_URL`: the URL of the environment's own receiver, without a webhook's id. */
export const variables = ['EVENTS_QUEUE_URL', 'CHECK_URL'] as const;
