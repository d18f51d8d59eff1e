/** Environment variables of a stack with the Data API; all values are fictitious. */
const given = {
  AWS_REGION: 'eu-central-1',
  DATABASE_ACCESS: 'data-api',
  DATABASE_NAME: 'wallet',
  DATABASE_CLUSTER_ARN: 'arn:aws:rds:eu-central-1:000000000000:cluster:test',
  DATABASE_SECRET_ARN: 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:test',
  DELIVERY_QUEUE_URL: 'https://sqs.example/queue',
  RETRY_QUEUE_URL: 'https://sqs.example/retries',
  DELIVERY_DEAD_LETTER_QUEUE_URL: 'https://sqs.example/dead-letters',
  ENVIRONMENT: 'test',
  EVENTS_QUEUE_URL: 'https://sqs.example/events',
  WEBHOOK_SECRETS_KEY_ID: 'arn:aws:kms:eu-central-1:000000000000:key/test',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  // Node's version is this machine's, not Lambda's.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
};

/** Creates a function's dependencies from only the variables that its stack sets, and these additional ones. */
export function asOnAws<Dependencies>(
  createDependencies: () => Dependencies,
  more: Readonly<Record<string, string>> = {},
): Dependencies {
  const before = process.env;
  process.env = { ...given, ...more };
  try {
    return createDependencies();
  } finally {
    process.env = before;
  }
}
