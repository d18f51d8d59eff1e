/**
 * `ENVIRONMENT`: the environment's name, for answers and logs. `API_BASE_URL`, `DASHBOARD_URL`: its own addresses, to which no
 * webhook of a customer may lead. The database's variables are added by `Database.grantAccess`.
 */
export const variables = ['ENVIRONMENT', 'API_BASE_URL', 'DASHBOARD_URL'] as const;
