import { logCodes } from '../../lambda/shared/log';
import { missingHeadings } from '../support/documents';
import { withoutSla, withSla, withStandby } from '../support/rows';
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
  const composites = stack.all('AWS::CloudWatch::CompositeAlarm');
  const rules = JSON.stringify(composites.map(({ Properties }) => Properties.AlarmRule));
  const isPart = ({ logicalId }: Resource) => rules.includes(`"${logicalId}"`);

  it('have the name of the stack and a heading of the runbook, and notify the topic of ALARM and OK', () => {
    const parts = alarms.filter(isPart).map(({ Properties }) => Properties.AlarmName);
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    expect(stack.json.Outputs.AlarmTopicArn.Value).toEqual(topic);
    expect(alarms).not.toEqual([]);
    for (const { Properties } of [...alarms, ...composites]) {
      const { AlarmName, AlarmDescription, AlarmActions = [], OKActions = [] } = Properties;
      expect(AlarmName).toMatch(new RegExp(`^${stackName}-[a-z0-9-]+$`));
      expect(AlarmDescription).toMatch(/\. Runbook: docs\/runbook\.md#[a-z-]+$/);
      expect(missingHeadings(AlarmDescription)).toEqual([]);
      const notified = parts.includes(AlarmName) ? [] : [topic];
      expect([AlarmActions, OKActions]).toEqual([notified, notified]);
    }
  });
});

it('alarms exist only with a service level agreement', () => {
  expect(stackOf(withoutSla).all('AWS::CloudWatch::Alarm')).toEqual([]);
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
  // Of a composite alarm, instead of its parts.
  const composites = stack.all('AWS::CloudWatch::CompositeAlarm');
  const notifying = [...alarms, ...composites].filter(({ Properties }) => Properties.AlarmActions);
  expect(composites).toHaveLength(2);
  expect(names.sort()).toEqual(notifying.map(({ Properties }) => Properties.AlarmName).sort());
  expect(JSON.stringify(widgets.filter((widget) => widget !== states))).not.toContain(
    'WebhookOriginNatGateway',
  );
  // Unique in the account.
  expect(stack.get('MonitoringDashboard').Properties.DashboardName).toBe('Reserved');
});

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

it('webhooks-unproven is 0 while probes are sent and none is verified, and missing if none is sent', () => {
  expect(math('webhooks-unproven', { sent: 1, verified: 1 })).toBe(1);
  expect(math('webhooks-unproven', { sent: 1 })).toBe(0);
  expect(math('webhooks-unproven', {})).toBeUndefined();
});

it.each([
  ['every receiver fails', { failed: 200 }, 1],
  ['some deliveries fail', { failed: 20, delivered: 280 }, 0],
  ['few deliveries fail', { failed: 19 }, 0],
])('deliveries-failing when %s', (_, values, expected) => {
  expect(math('deliveries-failing', values)).toBe(expected);
});

describe.each([
  // Requests and failures in the long window that burn the budget of 0.001 exactly that fast.
  ['1h', 14.4, 347, 100_000, 1_440],
  ['6h', 6, 833, 100_000, 600],
])('the burn rate over %s', (window, rate, minimum, requests, failures) => {
  const burn = (requests: number, errors: number) =>
    math(`api-errors-${window}`, { [`requests${window}`]: requests, [`errors${window}`]: errors }) ?? 0;

  it('is failures by what the objective allows', () => {
    expect(burn(requests, failures)).toBeCloseTo(rate);
    expect(burn(requests, failures - 1)).toBeLessThan(rate);
    expect(burn(minimum, 5)).toBeGreaterThanOrEqual(rate);
  });

  it.each([1, 10, minimum])('pages for five failures of at most %d requests, and for no fewer', (few) => {
    expect(burn(few, 4)).toBeLessThan(rate);
    expect(burn(few, 5)).toBeGreaterThanOrEqual(rate);
  });
});

/**
 * The value of an alarm's expression in one period. CloudWatch's metric math: a missing term counts as zero if another one has a value.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function math(name: string, values: Readonly<Record<string, number>>): number | undefined {
  const { Metrics } = (alarms.find((alarm) => nameOf(alarm) === name) as Resource).Properties;
  const { Expression } = Metrics.find((query: Json) => query.Expression);
  const ids = Metrics.flatMap(({ Id, MetricStat }: Json) => (MetricStat ? [Id] : []));
  if (ids.every((id: string) => values[id] === undefined)) return undefined;
  const script = Expression.replaceAll(' AND ', ' && ');
  const known = ids.map((id: string) => values[id] ?? 0);
  const IF = (condition: boolean, yes: number, no: number) => (condition ? yes : no);
  return new Function('IF', ...ids, `return ${script}`)(IF, ...known);
}
