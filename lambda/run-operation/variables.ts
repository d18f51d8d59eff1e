/** `ENVIRONMENT`: the environment's name, for answers and logs. The database's variables are added by `Database.grantAccess`. */
export const variables = ['ENVIRONMENT'] as const;
