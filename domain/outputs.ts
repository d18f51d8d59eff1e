/** The names of stack outputs, under which `cdk deploy --outputs-file` and `npm start` write them. */
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
  // Only with a reserve address, with a service level agreement, with domain names without a hosted zone, of a standby:
  'WebhookOriginReserveAddress',
  'AlarmTopicArn',
  'MonitoringDashboardUrl',
  'ApiDomainTarget',
  'DashboardDomainTarget',
  'GlobalClusterIdentifier',
] as const;

export type OutputName = (typeof outputNames)[number];
