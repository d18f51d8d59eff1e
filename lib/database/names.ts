/** Names inside of every cluster. One that began as a replica has them from its primary: its template has none. */
export const databaseName = 'wallet';
export const databaseOwner = 'wallet_owner';
