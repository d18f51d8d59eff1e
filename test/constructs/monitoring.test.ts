import { missingHeadings } from '../support/documents';
import { textOf } from '../support/region-api';
import { complete } from '../support/rows';
import { type Json, type Resource, type StackTemplate, synthesizeEveryStack } from '../support/stacks';

const { name, stackId, region, standby, throttle } = complete;
const stacks = synthesizeEveryStack([complete]);
const stack = stacks[stackId] as StackTemplate;

const api = `{ApiName=wallet-${name} Stage=ApiRestApiDeploymentStageapi}`;
const dashboard = `{ApiName=wallet-${name}-dashboard Stage=DashboardRestApiDeploymentStagedashboard}`;
const errors = (name: string, least = 3) => [
  `AWS/Lambda Errors {FunctionName=${name}} Sum of 15 min >= ${least}, 1 of 1`,
];
const throttles = (name: string) => `AWS/Lambda Throttles {FunctionName=${name}} Sum of 5 min`;
const database = (metric: string, more = '') =>
  `AWS/RDS ${metric} {DBClusterIdentifier=DatabaseCluster${more}} Maximum of 5 min`;
const backups = (metric: string, minutes: number, more = '') =>
  `AWS/Backup ${metric} {BackupVaultName=wallet-${name}-{id}-35-days${more}} Sum of ${minutes} min`;
const queue = (metric: string, name: string, statistic: string) =>
  `AWS/SQS ${metric} {QueueName=${name}} ${statistic} of 5 min`;
const oldest = (name: string, minutes: number) => [
  `${queue('ApproximateAgeOfOldestMessage', name, 'Maximum')} >= ${60 * minutes}, 1 of 1`,
];
const dead = (name: string) => [
  `${queue('ApproximateNumberOfMessagesVisible', name, 'Maximum')} >= 1, 1 of 1`,
];
const deliveries = (metric: string, period = '5 min') =>
  `WalletWebhooks ${metric} {environment=${name} service=deliver-webhook} Sum of ${period}`;
const proof = (metric: string) =>
  `WalletWebhooks ${metric} {environment=${name} service=check-delivery} Sum of 5 min`;
/** The alarm's expression for an objective of 0.999. */
const burning = (window: string, minutes: number, counted: string, rate: number) => {
  const of = `{ApiName=wallet-${name} Method=DELETE Resource=/auth/user-groups/{userGroupId} Stage=api} Sum of ${minutes} min`;
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
  'api-throttling': [`WalletApi/${stackId} Throttled {} Sum of 5 min >= 100, 1 of 1`],
  'firewall-blocks': [
    `AWS/WAFV2 BlockedRequests {Region=${region} Rule=ALL WebACL=wallet-${name}} Sum of 5 min >= 500, 1 of 1`,
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
  'database-connections': [`${database('DatabaseConnections')} >= ${throttle.burst}, 3 of 3`],
  'purge-behind': [
    'IF(0 * probes + runs < 1, 21600, oldest) >= 21600, 3 of 3',
    'probes: AWS/Lambda Invocations {FunctionName=ProbeProbeWebhooks} Sum of 60 min',
    `runs: WalletApi/${stackId} OldestExpiredSeconds {} SampleCount of 60 min`,
    `oldest: WalletApi/${stackId} OldestExpiredSeconds {} Maximum of 60 min`,
  ],
  'database-replication': [`${database('AuroraReplicaLag', ' Role=READER')} >= 1000, 3 of 3, breaching`],
  'backup-copy': [
    'all + ofType + events < 1, 28 of 28, breaching',
    `all: ${backups('NumberOfCopyJobsCompleted', 60)}`,
    `ofType: ${backups('NumberOfCopyJobsCompleted', 60, ' ResourceType=Aurora')}`,
    'events: AWS/Events Invocations {RuleName=MonitoringBackupEventsCopy} Sum of 60 min',
  ],
  'restore-drill': [
    'all + ofType + events < 1, 6 of 6, breaching',
    `all: ${backups('NumberOfRestoreJobsCompleted', 1440)}`,
    `ofType: ${backups('NumberOfRestoreJobsCompleted', 1440, ' ResourceType=Aurora')}`,
    'events: AWS/Events Invocations {RuleName=MonitoringBackupEventsRestore} Sum of 1440 min',
  ],
  'deliveries-failing': [
    'IF(failed >= 20 AND 0 * failed + delivered < 1, 1, 0) >= 1, 2 of 2',
    `failed: ${deliveries('Failed', '15 min')}`,
    `delivered: ${deliveries('Delivered', '15 min')}`,
  ],
  'oldest-message-events': oldest('WebhookEventsQueue', 15),
  'oldest-message-deliveries': oldest('WebhookDeliveryQueue', 15),
  'oldest-message-retries': oldest('WebhookRetryQueue', 45),
  'dead-letters-events': dead('WebhookEventsDeadLetterQueue'),
  'dead-letters-deliveries': dead('WebhookDeliveryDeadLetterQueue'),
  'invalid-messages': [`WalletApi/${stackId} InvalidMessages {} Sum of 5 min >= 1, 1 of 1`],
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
    `${database('AuroraGlobalDBRPOLag', ` SourceRegion=${region}`)} >= 30000, 3 of 3, breaching`,
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

const operators: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanThreshold: '<',
};

/** An alarm, as above. */
function lineOf({ Properties, Condition }: Resource): readonly string[] {
  const { Metrics = [], TreatMissingData, EvaluationPeriods, Statistic, Period } = Properties;
  const { ExtendedStatistic = Statistic, DatapointsToAlarm = EvaluationPeriods } = Properties;
  const { EvaluateLowSampleCountPercentile: fewSamples } = Properties;
  const { Expression = metricOf(Properties, ExtendedStatistic, Period) } =
    Metrics.find((query: Json) => query.Expression) ?? {};
  const parts = [
    `${Expression} ${operators[Properties.ComparisonOperator]} ${Properties.Threshold}`,
    `${DatapointsToAlarm} of ${EvaluationPeriods}`,
    ...(TreatMissingData === 'notBreaching' ? [] : [TreatMissingData]),
    ...(fewSamples ? [`${fewSamples} few samples`] : []),
    ...(Condition ? [`if ${Condition}`] : []),
  ];
  const metrics = Metrics.filter((query: Json) => query.MetricStat).map(
    ({ Id, MetricStat: { Metric, Stat, Period } }: Json) => `${Id}: ${metricOf(Metric, Stat, Period)}`,
  );
  return [parts.join(', '), ...metrics];
}

describe.each([
  [stackId, promised],
  [standby.stackId, promisedOfStandby],
])('the alarms of %s', (stackName, alarms) => {
  const stack = stacks[stackName] as StackTemplate;
  const nameOf = ({ Properties }: Resource): string => Properties.AlarmName.replace(`${stackName}-`, '');
  const composites = stack.all('AWS::CloudWatch::CompositeAlarm');
  const single = stack.all('AWS::CloudWatch::Alarm');
  /** A composite alarm, as above. */
  const ruleOf = ({ Properties }: Resource) =>
    Properties.AlarmRule['Fn::Join'][1]
      .map((part: Json) => (part['Fn::GetAtt'] ? nameOf(stack.get(part['Fn::GetAtt'][0])) : part))
      .join('')
      .replaceAll('"', '')
      .replace(/^\((.*)\)$/, '$1');

  it('are those of the table, and no others', () => {
    const lines = [
      ...single.map((alarm) => [nameOf(alarm), lineOf(alarm)]),
      ...composites.map((alarm) => [nameOf(alarm), [ruleOf(alarm)]]),
    ];
    expect(Object.fromEntries(lines)).toEqual(alarms);
  });

  it('have the name of the stack and a heading of the runbook, and notify the address of the row of ALARM and OK', () => {
    const rules = composites.map(ruleOf).join(' ');
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    expect(stack.json.Outputs.AlarmTopicArn.Value).toEqual(topic);
    for (const alarm of [...single, ...composites]) {
      const { AlarmName, AlarmDescription, AlarmActions = [], OKActions = [] } = alarm.Properties;
      // A composite alarm notifies instead of its parts.
      const notified = rules.includes(`(${nameOf(alarm)})`) ? [] : [topic];
      const found = [AlarmName, AlarmDescription, missingHeadings(AlarmDescription), AlarmActions, OKActions];
      expect(found).toEqual([
        `${stackName}-${nameOf(alarm)}`,
        expect.stringMatching(/\. Runbook: docs\/runbook\/alarms\.md#[a-z-]+$/),
        [],
        notified,
        notified,
      ]);
    }
    const { Endpoint, TopicArn } = stack.only('AWS::SNS::Subscription').Properties;
    expect([Endpoint, TopicArn]).toEqual(['on-call@example.com', topic]);
  });
});

it('the dashboard of CloudWatch, named as its stack, shows the state of every alarm that notifies, and these graphs', () => {
  const { DashboardBody, DashboardName } = stack.get('MonitoringDashboard').Properties;
  // Unique in the account.
  expect(DashboardName).toBe(stackId);
  const widgets: readonly Json[] = JSON.parse(textOf(DashboardBody)).widgets;
  const ofType = (wanted: string) => widgets.filter(({ type }) => type === wanted);
  const alarms = stack.resources.filter(({ Type }) => /Alarm$/.test(Type));
  const notifying = alarms.filter(({ Properties }) => Properties.AlarmActions);
  const [states] = ofType('alarm');
  expect(states.properties.alarms.map((arn: string) => arn.split(':').at(-1)).sort()).toEqual(
    notifying.map(({ Properties }) => Properties.AlarmName).sort(),
  );
  const graphs = ofType('metric').map(
    ({ properties: { title, start, metrics = [], annotations, yAxis } }) => {
      const shown: string[] = metrics.map((metric: Json) => {
        const { label, id, expression, stat = '', period = 300 } = metric.at(-1);
        const names = metric.slice(0, -1).map(named).join(' ');
        return `${label ?? id} = ${expression ?? `${stat} of ${period} s of ${names}`}`;
      });
      const thresholds = (annotations?.horizontal ?? []).map(({ value }: Json) => `line at ${value}`);
      return { title, text: [yAxis?.left.label ?? start, ...shown, ...thresholds].join(', ') };
    },
  );
  // Beside their section of the runbook. The metric of an alarm with a condition may not exist.
  for (const { Type, Properties, Condition } of alarms) {
    if (Condition || Type !== 'AWS::CloudWatch::Alarm') continue;
    const { text } = graphs.find(({ title }) => Properties.AlarmDescription.endsWith(`#${title}`)) ?? {};
    const label = Properties.AlarmName.replace(`${stackId}-`, '');
    expect(text).toMatch(new RegExp(`, ${label} = .*, line at ${Properties.Threshold}\\b`));
  }
  const others = graphs.filter(({ title }) => /^[A-Z]/.test(title));
  expect(others.map(({ title, text }) => `${title}: ${text}`)).toMatchSnapshot();
});
