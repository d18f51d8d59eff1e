/** How a function reaches its region's database: over HTTPS (`data-api`) or by PostgreSQL's protocol (`direct`). */
export type DatabaseAccess = 'data-api' | 'direct';

/** Variables that locate the database, by its environment's access. */
export const locationVariables = {
  'data-api': ['DATABASE_ACCESS', 'DATABASE_NAME', 'DATABASE_CLUSTER_ARN'],
  direct: [
    'DATABASE_ACCESS',
    'DATABASE_NAME',
    'DATABASE_HOST',
    'DATABASE_PORT',
    'DATABASE_CERTIFICATE_AUTHORITIES',
  ],
} as const satisfies Record<DatabaseAccess, readonly string[]>;

/** Variables that `Database.grantAccess` sets on a function: the database's location and the function's role. */
export const databaseVariables = {
  'data-api': [...locationVariables['data-api'], 'DATABASE_SECRET_ARN'],
  direct: [...locationVariables.direct, 'DATABASE_USER'],
} as const satisfies Record<DatabaseAccess, readonly string[]>;

/** One for each function that uses the database, named as its folder; migrations grant what its statements need. */
export const databaseRoles = [
  'delete_user_group',
  'run_operation',
  'fan_out_event',
  'deliver_webhook',
  'purge_expired',
  'probe_webhooks',
] as const;

/** The file beside a function's code that `DATABASE_CERTIFICATE_AUTHORITIES` names. */
export const certificateAuthoritiesFile = 'rds-certificate-authorities.pem';

export type DatabaseRole = (typeof databaseRoles)[number];
