import { locationVariables } from '../database/environment';

const ownership = ['DATABASE_MASTER_SECRET_ARN', 'DATABASE_ROLE_SECRETS'] as const;

/**
 * `DATABASE_MASTER_SECRET_ARN`: the secret of the cluster's owner. `DATABASE_ROLE_SECRETS`: JSON, from a database
 * role to the ARN of the secret that holds its password; `{}` where roles sign in with IAM tokens.
 */
export const variables = {
  'data-api': [...locationVariables['data-api'], ...ownership],
  direct: [...locationVariables.direct, ...ownership],
} as const;
