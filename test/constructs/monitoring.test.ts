import { logCodes } from '../../lambda/shared/log';
import { missingHeadings } from '../support/documents';
import { withoutSla, withSla, withStandby } from '../support/rows';
import { type Resource, type StackTemplate, synthesizeEveryStack } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const { standby: _, ...alone } = withSla;
const reserved = {
  ...alone,
  name: 'reserved',
  stackId: 'Reserved',
  alarmEmail: 'on-call@example.com',
  webhookOrigin: { reserve: true },
};
const stacks = synthesizeEveryStack([withStandby, reserved]);
const stack = stacks.Reserved as StackTemplate;
const alarms = stack.all('AWS::CloudWatch::Alarm');

describe.each(Object.entries(stacks))('the alarms of %s', (stackName, stack) => {
  const alarms = stack.all('AWS::CloudWatch::Alarm');

  it('have the name of the stack and a heading of the runbook, and notify the topic of ALARM and OK', () => {
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    expect(stack.json.Outputs.AlarmTopicArn.Value).toEqual(topic);
    expect(alarms).not.toEqual([]);
    for (const { Properties } of alarms) {
      const { AlarmName, AlarmDescription, AlarmActions, OKActions } = Properties;
      expect(AlarmName).toMatch(new RegExp(`^${stackName}-[a-z-]+$`));
      expect(AlarmDescription).toMatch(/\. Runbook: docs\/runbook\.md#[a-z-]+$/);
      expect(missingHeadings(AlarmDescription)).toEqual([]);
      expect([AlarmActions, OKActions]).toEqual([[topic], [topic]]);
    }
  });
});

it('missing data is breaching only for metrics that always report, and while the reserve is in use', () => {
  const names = alarms.filter(({ Properties }) => Properties.TreatMissingData === 'breaching').map(nameOf);
  expect(names.sort()).toEqual(['database-capacity', 'database-replication', 'origin-reserve-in-use']);
});

it('alarms watch the gateway of the webhook origin while it exists, and the reserve while it is in use', () => {
  for (const alarm of alarms) {
    const ofGateway = JSON.stringify(alarm).includes('"WebhookOriginNatGateway"');
    const ofReserve = nameOf(alarm) === 'origin-reserve-in-use';
    // Always in ALARM: threshold 0, missing data breaching.
    if (ofReserve) expect(alarm.Properties.Threshold).toBe(0);
    const inUse = ofReserve ? 'WebhookOriginReserveIsInUse' : undefined;
    expect(alarm.Condition).toBe(ofGateway ? 'WebhookOriginIsAttached' : inUse);
  }
});

it('alarms exist only with a service level agreement', () => {
  for (const row of [{ ...withSla, serviceLevelAgreement: false }, withoutSla])
    for (const stack of Object.values(synthesizeEveryStack([row])))
      expect([...stack.all('AWS::CloudWatch::Alarm'), ...stack.all('AWS::SNS::Topic')]).toEqual([]);
});

it("a standby has an alarm on its replication lag, with the metric's exact dimensions", () => {
  const ofStandby = stacks[withStandby.standby.stackId]?.all('AWS::CloudWatch::Alarm');
  expect(ofStandby?.map(({ Properties }) => Properties.Dimensions)).toEqual([
    [
      { Name: 'DBClusterIdentifier', Value: { Ref: 'DatabaseCluster' } },
      { Name: 'SourceRegion', Value: withStandby.region },
    ],
  ]);
});

it('the topic notifies the address of the row, and its key permits the alarms of this account', () => {
  const { logicalId, Properties } = stack.only('AWS::SNS::Topic');
  expect(stack.only('AWS::SNS::Subscription').Properties).toEqual({
    Protocol: 'email',
    Endpoint: 'on-call@example.com',
    TopicArn: { Ref: logicalId },
  });
  const [key] = Properties.KmsMasterKeyId['Fn::GetAtt'];
  expect(stack.get(key).Properties.KeyPolicy.Statement).toContainEqual({
    Effect: 'Allow',
    Principal: { Service: 'cloudwatch.amazonaws.com' },
    Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
    Resource: '*',
    Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
  });
});

it('metrics from logs count lines that are written, by a fixed set of values', () => {
  const { Format } = stack.named('AWS::ApiGateway::Stage', 'ApiRestApi').Properties.AccessLogSetting;
  const fields = ['logCode', 'code', ...Object.keys(JSON.parse(Format))];
  for (const { Properties } of stack.all('AWS::Logs::MetricFilter')) {
    const text = JSON.stringify(Properties);
    for (const [, field] of text.matchAll(/\$\.(\w+)/g)) expect(fields).toContain(field);
    for (const [, code] of Properties.FilterPattern.matchAll(/logCode = "(\w+)"/g))
      expect(Object.values(logCodes)).toContain(code);
    for (const { Key } of Properties.MetricTransformations[0].Dimensions ?? [])
      expect(['code', 'type']).toContain(Key);
  }
});

it('the dashboard has the state of every alarm, and a graph for each heading with a metric that always exists', () => {
  const widgets = widgetsOf(stack);
  const [states] = widgets.filter(({ type }) => type === 'alarm');
  const names = states.properties.alarms.map((arn: string) => arn.split(':').at(-1));
  expect(names.sort()).toEqual(alarms.map(({ Properties }) => Properties.AlarmName).sort());
  const graphs = widgets.filter(({ type }) => type === 'metric').map(({ properties }) => properties);
  const headings = alarms.map(({ Properties }) => Properties.AlarmDescription.split('#')[1]);
  expect(graphs.map(({ title }) => title)).toEqual(
    expect.arrayContaining(headings.filter((heading) => heading !== 'reserve-address-in-use')),
  );
  expect(JSON.stringify(graphs)).not.toContain('WebhookOriginNatGateway');
  // Unique in the account.
  expect(stack.get('MonitoringDashboard').Properties.DashboardName).toBe('Reserved');
  expect(stack.json.Outputs.MonitoringDashboardUrl.Value).toMatch(/^https:.*\/Reserved$/);
});

/** The dashboard's body, with logical ids for references. */
function widgetsOf(stack: StackTemplate): readonly Json[] {
  const pieces: readonly Json[] = stack.get('MonitoringDashboard').Properties.DashboardBody['Fn::Join'][1];
  const text = pieces.map((piece) => piece.Ref ?? piece['Fn::GetAtt']?.join('.') ?? piece).join('');
  return JSON.parse(text).widgets;
}
const nameOf = ({ Properties }: Resource): string => Properties.AlarmName.replace('Reserved-', '');

const none = undefined;

describe.each(['WebhookDeliveryQueue', 'WebhookRetryQueue'])('with all messages in %s', (lane) => {
  // In one period: messages received and deleted, packets that came back, attempts delivered and failed.
  it.each<[string, readonly (number | undefined)[], readonly string[]]>([
    ['all is well', [300, 300, 9_000, 300, none], []],
    ['nothing is sent', [0, 0, 0, none, none], []],
    ['nothing reports', [], []],
    ['every receiver fails', [200, 0, 4_000, none, 200], ['deliveries-failing']],
    ['messages of disabled webhooks end without a request', [40, 40, 0, none, none], []],
    ['some deliveries fail, and the gateway reports nothing', [300, 280, none, 280, 20], []],
    ['the zone is gone, with the metrics of the gateway', [200, 0, none, none, none], ['origin-unreachable']],
    [
      'the zone is gone, and the function reaches the database without the gateway',
      [200, 0, none, none, 200],
      ['deliveries-failing', 'origin-unreachable'],
    ],
    ['nothing comes back', [200, 0, 0, none, none], ['origin-unreachable']],
  ])('the alarms distinguish a lost gateway from failing receivers: %s', (_, values, raised) => {
    const metrics = [
      'NumberOfMessagesReceived',
      'NumberOfMessagesDeleted',
      'PacketsInFromDestination',
      'Delivered',
      'Failed',
    ];
    const reported = Object.fromEntries(metrics.map((name, index) => [name, values[index]]));
    const breaching = ['deliveries-failing', 'origin-unreachable'].filter((name) => {
      const { Properties } = stack.named(
        'AWS::CloudWatch::Alarm',
        `MonitoringAlarms${name.replace('-', '')}`,
      );
      expect(Properties).toMatchObject({ TreatMissingData: 'notBreaching', Threshold: 1 });
      return (valueIn(Properties, reported, lane) ?? 0) >= 1;
    });
    expect(breaching).toEqual(raised);
  });
});

/** The value of an alarm's expression for one period. The other queue and an omitted metric report nothing. */
function valueIn(
  { Metrics }: Resource['Properties'],
  values: Readonly<Record<string, number | undefined>>,
  lane: string,
) {
  const metrics = Metrics.flatMap(({ Id, MetricStat }: Json) => {
    if (!MetricStat) return [];
    const { MetricName, Dimensions } = MetricStat.Metric;
    const queue = Dimensions[0].Value['Fn::GetAtt']?.[0] ?? '';
    return [[Id, queue.endsWith('Queue') && queue !== lane ? undefined : values[MetricName]]];
  });
  const { Expression } = Metrics.find((query: Json) => query.Expression);
  return evaluate(Expression, Object.fromEntries(metrics));
}

/**
 * CloudWatch's metric math for one period: between two metrics a missing value counts as zero if the other has one; a constant
 * has no timestamps, so it adds no value. `IF` without a condition is missing.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function evaluate(
  expression: string,
  metrics: Readonly<Record<string, number | undefined>>,
): number | undefined {
  const operators: readonly Readonly<Record<string, (left: number, right: number) => number>>[] = [
    { AND: (left, right) => left && right },
    {
      '<': (left, right) => +(left < right),
      '>': (left, right) => +(left > right),
      '>=': (left, right) => +(left >= right),
    },
    { '+': (left, right) => left + right },
    { '*': (left, right) => left * right },
  ];
  type Operand = { readonly value: number | undefined; readonly isConstant?: boolean };
  const tokens = expression.match(/\w+|[<>]=?|\S/g) ?? [];
  const { value } = operand();
  expect(tokens).toEqual([]);
  return value;

  function operand(level = 0): Operand {
    const ofLevel = operators[level];
    if (!ofLevel) return primary();
    let left = operand(level + 1);
    for (let apply = ofLevel[tokens[0] ?? '']; apply; apply = ofLevel[tokens[0] ?? '']) {
      tokens.shift();
      const sides = [left, operand(level + 1)];
      const known = sides.some(({ value, isConstant }) => value !== undefined && !isConstant);
      left = { value: known ? apply(sides[0]?.value ?? 0, sides[1]?.value ?? 0) : undefined };
    }
    return left;
  }

  function primary(): Operand {
    const token = tokens.shift() ?? '';
    if (/^\d/.test(token)) return { value: Number(token), isConstant: true };
    if (token !== '(' && tokens[0] !== '(') return { value: metrics[token] };
    if (token !== '(') tokens.shift();
    const [first = { value: undefined }, second, third] = list();
    if (token === 'FILL') return { value: first.value ?? second?.value };
    if (token !== 'IF') return first;
    return { value: first.value === undefined ? undefined : (first.value ? second : third)?.value };
  }

  function list(): readonly Operand[] {
    const operands = [operand()];
    while (tokens.shift() === ',') operands.push(operand());
    return operands;
  }
}
