/** Names inside of every cluster. One that began as a replica or is restored has them from its data: its template has none. */
export const databaseName = 'wallet';
export const databaseOwner = 'wallet_owner';
