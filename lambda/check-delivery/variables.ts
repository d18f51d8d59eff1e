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

/** Of the function's metrics, for alarms. `serviceName` is the value of the dimension `service`, beside `environment`. */
export const checkMetrics = { namespace: 'WalletWebhooks', serviceName: 'check-delivery' } as const;

/**
 * Of the probe's deliveries alone: `Verified` and `AgeMs` (since the probe was sent) of those that passed; `OtherAddress`
 * counts those that are genuine and fresh, but come from an address that is not published.
 */
export type CheckMetric = 'Verified' | 'AgeMs' | 'OtherAddress';
