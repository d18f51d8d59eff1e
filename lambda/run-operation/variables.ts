/** `API_BASE_URL`, `DASHBOARD_URL`: its own addresses, to which no webhook of a customer may lead. */
export const variables = ['ENVIRONMENT', 'API_BASE_URL', 'DASHBOARD_URL'] as const;
