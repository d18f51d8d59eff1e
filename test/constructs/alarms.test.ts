import { textOf } from '../support/region-api';
import { withSla, withStandby } from '../support/rows';
import { type StackTemplate, synthesizeEveryStack } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const { standby: _, ...alone } = withSla;
const row = {
  ...alone,
  name: 'reserved',
  stackId: 'Reserved',
  objective: { availability: 0.999 },
  webhookOrigin: { reserve: true },
};
const stacks = synthesizeEveryStack([row, withStandby]);

const api = '{ApiName=wallet-reserved Stage=ApiRestApiDeploymentStageapi}';
const dashboard = '{ApiName=wallet-reserved-dashboard Stage=DashboardRestApiDeploymentStagedashboard}';
const errors = (name: string, least = 3) => [
  `AWS/Lambda Errors {FunctionName=${name}} Sum of 15 min >= ${least}, 1 of 1`,
];
const throttles = (name: string) => `AWS/Lambda Throttles {FunctionName=${name}} Sum of 5 min`;
const database = (metric: string, more = '') =>
  `AWS/RDS ${metric} {DBClusterIdentifier=DatabaseCluster${more}} Maximum of 5 min`;
const backups = (metric: string, minutes: number, more = '') =>
  `AWS/Backup ${metric} {BackupVaultName=wallet-reserved-{id}-35-days${more}} Sum of ${minutes} min`;
const queue = (metric: string, name: string, statistic: string) =>
  `AWS/SQS ${metric} {QueueName=${name}} ${statistic} of 5 min`;
const oldest = (name: string, minutes: number) => [
  `${queue('ApproximateAgeOfOldestMessage', name, 'Maximum')} >= ${60 * minutes}, 1 of 1`,
];
const dead = (name: string) => [
  `${queue('ApproximateNumberOfMessagesVisible', name, 'Maximum')} >= 1, 1 of 1`,
];
const deliveries = (metric: string, period = '5 min') =>
  `WalletWebhooks ${metric} {environment=reserved service=deliver-webhook} Sum of ${period}`;
const proof = (metric: string) =>
  `WalletWebhooks ${metric} {environment=reserved service=check-delivery} Sum of 5 min`;
/** Of an objective of 0.999. */
const burning = (window: string, minutes: number, counted: string, rate: number) => {
  const of = `{ApiName=wallet-reserved Method=DELETE Resource=/auth/user-groups/{userGroupId} Stage=api} Sum of ${minutes} min`;
  return {
    [`api-errors-${window}`]: [
      `errors${window} / (0.001 * ${counted}) >= ${rate}, 1 of 1`,
      `errors${window}: AWS/ApiGateway 5XXError ${of}`,
      `requests${window}: AWS/ApiGateway Count ${of}`,
    ],
  };
};
const gateway = (metric: string, statistic = 'Sum') =>
  `AWS/NATGateway ${metric} {NatGatewayId=WebhookOriginNatGateway} ${statistic} of 5 min`;
const attached = 'if WebhookOriginIsAttached';

/**
 * Every alarm of a serving stack with a service level agreement, by hand from docs/runbook/alarms.md: metric or expression, threshold,
 * periods; breaching if data is missing; if a condition holds. Then the metrics of the expression.
 */
const promised: Readonly<Record<string, readonly string[]>> = {
  'webhook-other-address': [`${proof('OtherAddress')} >= 1, 1 of 1`],
  'webhooks-unproven': [
    '0 * sent + verified < 1, 3 of 3, breaching',
    'sent: AWS/Lambda Invocations {FunctionName=ProbeProbeWebhooks} Sum of 5 min',
    `verified: ${proof('Verified')}`,
  ],
  ...burning('1h', 60, 'IF(requests1h > 347, requests1h, 347)', 14.4),
  ...burning('5m', 5, 'requests5m', 14.4),
  ...burning('6h', 360, 'IF(requests6h > 833, requests6h, 833)', 6),
  ...burning('30m', 30, 'requests30m', 6),
  // Composite: both notify, and their parts do not.
  'api-errors-fast': ['ALARM(api-errors-1h) AND ALARM(api-errors-5m)'],
  'api-errors-slow': ['ALARM(api-errors-6h) AND ALARM(api-errors-30m)'],
  'api-latency': [`AWS/ApiGateway Latency ${api} p99 of 5 min >= 2000, 3 of 3, ignore few samples`],
  'api-throttling': ['WalletApi/Reserved Throttled {} Sum of 5 min >= 100, 1 of 1'],
  'firewall-blocks': [
    `AWS/WAFV2 BlockedRequests {Region=${row.region} Rule=ALL WebACL=wallet-reserved} Sum of 5 min >= 500, 1 of 1`,
  ],
  'dashboard-errors': [`AWS/ApiGateway 5XXError ${dashboard} Sum of 5 min >= 5, 1 of 1`],
  'function-errors-authorize-request': errors('AuthorizeRequest'),
  'function-errors-delete-user-group': errors('DeleteUserGroup'),
  'function-errors-run-operation': errors('RunOperation'),
  'function-errors-fan-out-event': errors('WebhooksFanOutEvent'),
  'function-errors-deliver-webhook': errors('WebhooksDeliverWebhook'),
  'function-errors-purge-expired': errors('WebhooksPurgeExpired', 1),
  'function-throttling': [
    'm0 + m1 + m2 + m3 + m4 + m5 >= 1, 1 of 1',
    `m0: ${throttles('AuthorizeRequest')}`,
    `m1: ${throttles('DeleteUserGroup')}`,
    `m2: ${throttles('RunOperation')}`,
    `m3: ${throttles('WebhooksFanOutEvent')}`,
    `m4: ${throttles('WebhooksDeliverWebhook')}`,
    `m5: ${throttles('WebhooksPurgeExpired')}`,
  ],
  'database-capacity': [`${database('ACUUtilization')} >= 80, 3 of 3, breaching`],
  'database-connections': [`${database('DatabaseConnections')} >= ${row.throttle.burst}, 3 of 3`],
  'database-storage': [`${database('VolumeBytesUsed')} >= 536870912000, 1 of 1`],
  'database-replication': [`${database('AuroraReplicaLag', ' Role=READER')} >= 1000, 3 of 3, breaching`],
  'backup-copy': [
    'all + ofType < 1, 28 of 28, breaching',
    `all: ${backups('NumberOfCopyJobsCompleted', 60)}`,
    `ofType: ${backups('NumberOfCopyJobsCompleted', 60, ' ResourceType=Aurora')}`,
  ],
  'restore-drill': [
    'all + ofType < 1, 6 of 6, breaching',
    `all: ${backups('NumberOfRestoreJobsCompleted', 1440)}`,
    `ofType: ${backups('NumberOfRestoreJobsCompleted', 1440, ' ResourceType=Aurora')}`,
  ],
  'deliveries-failing': [
    'IF(failed >= 20 AND 0 * failed + delivered < 1, 1, 0) >= 1, 2 of 2',
    `failed: ${deliveries('Failed', '15 min')}`,
    `delivered: ${deliveries('Delivered', '15 min')}`,
  ],
  'deliveries-given-up': [`${deliveries('GivenUp', '1440 min')} >= 1, 1 of 1`],
  'webhook-disabled': [`${deliveries('Disabled')} >= 1, 1 of 1`],
  'oldest-message-events': oldest('WebhookEventsQueue', 15),
  'oldest-message-deliveries': oldest('WebhookDeliveryQueue', 15),
  'oldest-message-retries': oldest('WebhookRetryQueue', 45),
  'dead-letters-events': dead('WebhookEventsDeadLetterQueue'),
  'dead-letters-deliveries': dead('WebhookDeliveryDeadLetterQueue'),
  'egress-drops': [
    `IF(dropped >= 10, 100 * dropped / (outward + inward), 0) > 0.01, 3 of 3, ${attached}`,
    `dropped: ${gateway('PacketsDropCount')}`,
    `outward: ${gateway('PacketsInFromSource')}`,
    `inward: ${gateway('PacketsInFromDestination')}`,
  ],
  'egress-ports': [`${gateway('ErrorPortAllocation', 'Maximum')} > 0, 3 of 3, ${attached}`],
  'origin-reserve-in-use': [
    `${deliveries('Delivered')} >= 0, 1 of 1, breaching, if WebhookOriginReserveIsInUse`,
  ],
};

/** The one alarm of a standby. */
const promisedOfStandby = {
  'standby-replication': [
    `${database('AuroraGlobalDBRPOLag', ` SourceRegion=${withStandby.region}`)} >= 30000, 3 of 3, breaching`,
  ],
};

/** The names of resources, without the CDK's hashes and attributes; `{id}` is a part of the stack's. */
const named = (value: Json) =>
  textOf(value)
    .replace(/^\{(\w+?)([0-9A-F]{8})?(\.\w+)?\}$/, '$1')
    .replace('{0.[object Object]}', '{id}');

function metricOf(
  { Namespace, MetricName, Dimensions = [] }: Json,
  statistic: string,
  seconds: number,
): string {
  const dimensions = Dimensions.map(({ Name, Value }: Json) => `${Name}=${named(Value)}`).sort();
  return `${Namespace} ${MetricName} {${dimensions.join(' ')}} ${statistic} of ${seconds / 60} min`;
}

/** The alarms of a stack, as above. */
const alarmsOf = (name: string) => ({
  ...metricAlarmsOf(name),
  ...Object.fromEntries(
    (stacks[name] as StackTemplate).all('AWS::CloudWatch::CompositeAlarm').map(({ Properties }) => {
      const parts = Properties.AlarmRule['Fn::Join'][1].map((part: Json) =>
        part['Fn::GetAtt'] ? nameIn(name, part['Fn::GetAtt'][0]) : part,
      );
      const rule = parts
        .join('')
        .replaceAll('"', '')
        .replace(/^\((.*)\)$/, '$1');
      return [Properties.AlarmName.replace(`${name}-`, ''), [rule]];
    }),
  ),
});

const nameIn = (name: string, logicalId: string) =>
  (stacks[name] as StackTemplate).get(logicalId).Properties.AlarmName.replace(`${name}-`, '');

const metricAlarmsOf = (name: string) =>
  Object.fromEntries(
    (stacks[name] as StackTemplate).all('AWS::CloudWatch::Alarm').map(({ Properties, Condition }) => {
      const { Metrics = [], ComparisonOperator, TreatMissingData, EvaluationPeriods } = Properties;
      const operators: Json = {
        GreaterThanOrEqualToThreshold: '>=',
        GreaterThanThreshold: '>',
        LessThanThreshold: '<',
      };
      const expression = Metrics.find((query: Json) => query.Expression)?.Expression;
      const { Statistic, ExtendedStatistic = Statistic, Period } = Properties;
      const parts = [
        `${expression ?? metricOf(Properties, ExtendedStatistic, Period)} ${operators[ComparisonOperator]} ${Properties.Threshold}`,
        `${Properties.DatapointsToAlarm ?? EvaluationPeriods} of ${EvaluationPeriods}`,
        ...(TreatMissingData === 'notBreaching' ? [] : [TreatMissingData]),
        ...(Properties.EvaluateLowSampleCountPercentile
          ? [`${Properties.EvaluateLowSampleCountPercentile} few samples`]
          : []),
        ...(Condition ? [`if ${Condition}`] : []),
      ];
      const metrics = Metrics.filter((query: Json) => query.MetricStat).map(
        ({ Id, MetricStat: { Metric, Stat, Period } }: Json) => `${Id}: ${metricOf(Metric, Stat, Period)}`,
      );
      return [Properties.AlarmName.replace(`${name}-`, ''), [parts.join(', '), ...metrics]];
    }),
  );

it.each([
  [row.stackId, promised],
  [withStandby.standby.stackId, promisedOfStandby],
])('the alarms of %s are those of the table, and no others', (name, alarms) => {
  expect(alarmsOf(name)).toEqual(alarms);
});
