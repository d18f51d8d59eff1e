import { routeVariables } from '../shared/variables';

/**
 * `ENVIRONMENT`: its name, a dimension of the metrics. `PUBLISHED_ADDRESSES`: the IPv4 addresses that receivers allow,
 * separated by commas. `FORMER_ADDRESS`: of the region before a promotion, whose probe may still run; or `none`.
 * `WEBHOOK_SECRETS_KEY_ID`: the ARN of the KMS key that derives secrets.
 */
export const variables = [
  'ENVIRONMENT',
  'PUBLISHED_ADDRESSES',
  'FORMER_ADDRESS',
  'WEBHOOK_SECRETS_KEY_ID',
  ...routeVariables,
] as const;
