/**
 * `ENVIRONMENT`: its name, a dimension of the metrics. `PUBLISHED_ADDRESSES`: the IPv4 addresses that receivers allow,
 * separated by commas. `FORMER_ADDRESS`: of the region before a promotion, whose probe may still run; or `none`. `WEBHOOK_SECRETS_KEY_ID`: the ARN of the KMS key that derives secrets. `RESPONSE_HEADERS`: a JSON
 * object with the headers of every response, such as `Deprecation`; often `{}`.
 */
export const variables = [
  'ENVIRONMENT',
  'PUBLISHED_ADDRESSES',
  'FORMER_ADDRESS',
  'WEBHOOK_SECRETS_KEY_ID',
  'RESPONSE_HEADERS',
] as const;
