/** The names of stack outputs in the files that `cdk deploy --outputs-file` and `npm start` write. */
const outputNames = [
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
  // Only with a reserve address, a service level agreement, domain names, or a standby:
  'WebhookOriginReserveAddress',
  'WebhookOriginStandbyAddress',
  'AlarmTopicArn',
  'AirGappedVaultName',
  'MonitoringDashboardUrl',
  'ProbeFunctionName',
  'ApiDomainTarget',
  'DashboardDomainTarget',
  'GlobalClusterIdentifier',
] as const;

/** Addresses that receivers allow now, and that webhooks come from in an announced emergency only. */
export const reserveOutputs = [
  'WebhookOriginReserveAddress',
  'WebhookOriginStandbyAddress',
] as const satisfies readonly (typeof outputNames)[number][];

export type OutputName = (typeof outputNames)[number];
