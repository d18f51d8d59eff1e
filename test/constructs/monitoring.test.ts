import { logCodes } from '../../lambda/shared/log';
import { missingHeadings } from '../support/documents';
import { withSla, withStandby } from '../support/rows';
import { type Resource, type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';

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
const nameOf = ({ Properties }: Resource): string => Properties.AlarmName.replace('Reserved-', '');

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

it('alarms exist only with a service level agreement', () => {
  expect(stackOf({ ...alone, serviceLevelAgreement: false }).all('AWS::CloudWatch::Alarm')).toEqual([]);
});

it('the topic notifies the address of the row, and its key permits the alarms of this account', () => {
  const { logicalId, Properties } = stack.only('AWS::SNS::Topic');
  expect(stack.only('AWS::SNS::Subscription').Properties).toMatchObject({
    Endpoint: 'on-call@example.com',
    TopicArn: { Ref: logicalId },
  });
  const [key] = Properties.KmsMasterKeyId['Fn::GetAtt'];
  expect(stack.get(key).Properties.KeyPolicy.Statement).toContainEqual(
    expect.objectContaining({
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    }),
  );
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

it('the dashboard has the state of every alarm, and no metric of a gateway that may not exist', () => {
  const pieces: readonly Json[] = stack.get('MonitoringDashboard').Properties.DashboardBody['Fn::Join'][1];
  const text = pieces.map((piece) => piece.Ref ?? piece['Fn::GetAtt']?.join('.') ?? piece).join('');
  const widgets: readonly Json[] = JSON.parse(text).widgets;
  const [states] = widgets.filter(({ type }) => type === 'alarm');
  const names = states.properties.alarms.map((arn: string) => arn.split(':').at(-1));
  expect(names.sort()).toEqual(alarms.map(({ Properties }) => Properties.AlarmName).sort());
  expect(JSON.stringify(widgets.filter((widget) => widget !== states))).not.toContain(
    'WebhookOriginNatGateway',
  );
  // Unique in the account.
  expect(stack.get('MonitoringDashboard').Properties.DashboardName).toBe('Reserved');
});

const none = undefined;
type Values = readonly (number | undefined)[];

it('no alarm depends on FILL, whose behaviour for a metric without any data is not documented', () => {
  expect(JSON.stringify(alarms)).not.toMatch(/\bFILL\b/);
});

it('a delivery that is given up raises an alarm', () => {
  const { Properties } = alarms.find((alarm) => nameOf(alarm) === 'deliveries-given-up') as Resource;
  expect(Properties).toMatchObject({ MetricName: 'GivenUp', Statistic: 'Sum', Period: 86_400, Threshold: 1 });
});

it('alarms read metrics of this environment only, even beside another in the same account and region', () => {
  const other = {
    ...alone,
    name: 'other',
    stackId: 'Other',
    alarmEmail: 'on-call@example.com',
    webhookOrigin: { reserve: true },
  };
  // As deployed: two stacks' resources have different physical ids.
  const metricsOf = (each: StackTemplate) =>
    each.all('AWS::CloudWatch::Alarm').flatMap(({ Properties }) => {
      const {
        Namespace,
        Dimensions,
        MetricName,
        Metrics = [{ MetricStat: { Metric: { Namespace, Dimensions, MetricName } } }],
      } = Properties;
      return Metrics.filter((query: Json) => query.MetricStat).map(({ MetricStat: { Metric } }: Json) =>
        JSON.stringify(Metric),
      );
    });
  const named = (each: StackTemplate) =>
    metricsOf(each).filter((metric) => !/"Ref"|"Fn::/.test(metric.replaceAll('{"Ref":"AWS::Region"}', '')));
  expect(named(stack)).not.toEqual([]);
  expect(named(stack).filter((metric) => named(stackOf(other)).includes(metric))).toEqual([]);
});

describe.each(['WebhookDeliveryQueue', 'WebhookRetryQueue'])('with all messages in %s', (lane) => {
  // In one period: messages received and deleted, packets that came back, attempts delivered and failed.
  it.each<[string, Values, readonly string[]]>([
    ['all is well', [300, 300, 9_000, 300, none], []],
    ['nothing reports', [], []],
    ['every receiver fails', [200, 0, 4_000, none, 200], ['deliveries-failing']],
    ['messages of disabled webhooks end without a request', [40, 40, 0, none, none], []],
    ['some deliveries fail, and the gateway reports nothing', [300, 280, none, 280, 20], []],
    ['the zone is gone, with the metrics of the gateway', [200, 0, none, none, none], ['origin-unreachable']],
    ['nothing comes back', [200, 0, 0, none, none], ['origin-unreachable']],
  ])('the alarms distinguish a lost gateway from failing receivers: %s', (_, values, raised) => {
    const breaching = ['deliveries-failing', 'origin-unreachable'].filter((name) => {
      const { Properties } = alarms.find((alarm) => nameOf(alarm) === name) as Resource;
      expect(Properties).toMatchObject({ TreatMissingData: 'notBreaching', Threshold: 1 });
      return isBreaching(Properties, values, lane);
    });
    expect(breaching).toEqual(raised);
  });
});

/** The alarm's state after one period with these values. The other queue reports nothing. */
function isBreaching({ Metrics }: Resource['Properties'], values: Values, lane: string): boolean {
  const names = [
    'NumberOfMessagesReceived',
    'NumberOfMessagesDeleted',
    'PacketsInFromDestination',
    'Delivered',
    'Failed',
  ];
  const metric = (id: string): number | undefined => {
    const { MetricName, Dimensions } = Metrics.find(({ Id }: Json) => Id === id).MetricStat.Metric;
    const queue: string = Dimensions[0].Value['Fn::GetAtt']?.[0] ?? '';
    return queue.endsWith('Queue') && queue !== lane ? undefined : values[names.indexOf(MetricName)];
  };
  /**
   * CloudWatch's metric math: a missing term counts as zero if another one has a value.
   * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
   */
  const sum = (text: string): number | undefined => {
    const terms = text.split(/ \+ (?![^(]*\))/).map((term) => {
      const [, zero] = /^0 \* \(?([^()]*)\)?$/.exec(term) ?? [];
      if (zero) return sum(zero) === undefined ? undefined : 0;
      return /^\d+$/.test(term) ? Number(term) : metric(term);
    });
    const known = terms.filter((term) => term !== undefined);
    return known.length > 0 ? known.reduce((total, term) => total + term) : undefined;
  };
  const { Expression } = Metrics.find((query: Json) => query.Expression);
  const [, condition = ''] = /^IF\((.*), 1, 0\)$/.exec(Expression) ?? [];
  expect(condition).not.toBe('');
  return condition.split(' AND ').every((comparison) => {
    const [left, operator, right] = comparison.split(/ (>=|>|<) /) as [string, string, string];
    const [value, limit = 0] = [sum(left), sum(right)];
    if (value === undefined) return false;
    return operator === '<' ? value < limit : operator === '>' ? value > limit : value >= limit;
  });
}
