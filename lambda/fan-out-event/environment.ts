/** The URLs of the queues that it reads, writes, and sets aside what it cannot read. The database's variables are added by `Database.grantAccess`. */
export const variables = ['EVENTS_QUEUE_URL', 'EVENTS_DEAD_LETTER_QUEUE_URL', 'DELIVERY_QUEUE_URL'] as const;
