/** The URLs of the queue of events, of its dead-letter queue and of the delivery queue. The database's variables are added by `Database.grantAccess`. */
export const variables = ['EVENTS_QUEUE_URL', 'EVENTS_DEAD_LETTER_QUEUE_URL', 'DELIVERY_QUEUE_URL'] as const;
