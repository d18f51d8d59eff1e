/** The function needs no variable of its own. The database's variables are added by `Database.grantAccess`. */
export const variables = [] as const;
