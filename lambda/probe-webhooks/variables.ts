/**
 * `EVENTS_QUEUE_URL`: the queue of events. `CHECK_URL`: the URL of the environment's own receiver, without a webhook's id.
 * `Database.grantAccess` adds the database's variables.
 */
export const variables = ['EVENTS_QUEUE_URL', 'CHECK_URL'] as const;
