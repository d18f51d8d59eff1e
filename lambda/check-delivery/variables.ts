/**
 * `ENVIRONMENT`: its name, a dimension of the metrics. `PUBLISHED_ADDRESSES`: the IPv4 addresses that receivers allow,
 * separated by commas. `WEBHOOK_SECRETS_KEY_ID`: the ARN of the KMS key that derives secrets. `RESPONSE_HEADERS`: a JSON
 * object with the headers of every response, such as `Deprecation`; often `{}`.
 */
export const variables = [
  'ENVIRONMENT',
  'PUBLISHED_ADDRESSES',
  'WEBHOOK_SECRETS_KEY_ID',
  'RESPONSE_HEADERS',
] as const;
