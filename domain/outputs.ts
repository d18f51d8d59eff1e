/** The names of stack outputs in the files that `cdk deploy --outputs-file` and `npm start` write. */
export const outputNames = [
  'ApiBaseUrl',
  'DashboardUrl',
  'WebhookOriginAddress',
  'WebhookEventsQueueUrl',
  'WebhookEventsDeadLetterQueueUrl',
  'WebhookDeliveryQueueUrl',
  'WebhookDeliveryDeadLetterQueueUrl',
  'WebhookRetryQueueUrl',
  'WebhookSecretsKeyArn',
  'TokenSigningKeyArn',
  'UserActionSigningKeyArn',
  'DatabaseClusterArn',
  'OperationsFunctionName',
  'ServiceLevelAgreement',
  'Deprecated',
  // Only with a reserve address, a service level agreement, domain names without a hosted zone, or a standby:
  'WebhookOriginReserveAddress',
  'AlarmTopicArn',
  'AirGappedVaultName',
  'MonitoringDashboardUrl',
  'ProbeFunctionName',
  'ApiDomainTarget',
  'DashboardDomainTarget',
  'GlobalClusterIdentifier',
] as const;

export type OutputName = (typeof outputNames)[number];
