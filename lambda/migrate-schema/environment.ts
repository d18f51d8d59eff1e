/**
 * `DATABASE_MASTER_SECRET_ARN`: the secret of the cluster's owner. `DATABASE_ROLE_SECRETS`: JSON, from a database
 * role to the ARN of the secret that holds its password; `{}` where roles sign in with IAM tokens.
 * The rest is as in `databaseVariables`, less what belongs to a role.
 */
export const variables = {
  'data-api': [
    'DATABASE_ACCESS',
    'DATABASE_NAME',
    'DATABASE_CLUSTER_ARN',
    'DATABASE_MASTER_SECRET_ARN',
    'DATABASE_ROLE_SECRETS',
  ],
  direct: [
    'DATABASE_ACCESS',
    'DATABASE_NAME',
    'DATABASE_HOST',
    'DATABASE_PORT',
    'DATABASE_CERTIFICATE_AUTHORITIES',
    'DATABASE_MASTER_SECRET_ARN',
    'DATABASE_ROLE_SECRETS',
  ],
} as const;
