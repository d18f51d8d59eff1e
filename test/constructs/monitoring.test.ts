import { missingHeadings } from '../support/documents';
import { textOf } from '../support/region-api';
import { complete } from '../support/rows';
import { type Json, type Resource, type StackTemplate, synthesizeEveryStack } from '../support/stacks';

const { stackId, standby } = complete;
const stacks = synthesizeEveryStack([complete]);
const stack = stacks[stackId] as StackTemplate;

/** The names of resources, without the CDK's hashes and attributes; `{id}` is a part of the stack's. */
const named = (value: Json) =>
  textOf(value)
    .replace(/^\{(\w+?)([0-9A-F]{8})?(\.\w+)?\}$/, '$1')
    .replace('{0.[object Object]}', '{id}');

function metricOf(metric: Json, statistic: string, seconds: number): string {
  const { Namespace, MetricName, Dimensions = [] } = metric;
  const dimensions = Dimensions.map(({ Name, Value }: Json) => `${Name}=${named(Value)}`).sort();
  return `${Namespace} ${MetricName} {${dimensions.join(' ')}} ${statistic} of ${seconds / 60} min`;
}

const operators: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanThreshold: '<',
};

/** An alarm: metric or expression, threshold, periods, what missing data is, its condition; then the expression's metrics. */
function linesOf({ Properties, Condition }: Resource): readonly string[] {
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

describe.each([stackId, standby.stackId])('the alarms of %s', (stackName) => {
  const stack = stacks[stackName] as StackTemplate;
  const nameOf = ({ Properties }: Resource): string => Properties.AlarmName.replace(`${stackName}-`, '');
  const composites = stack.all('AWS::CloudWatch::CompositeAlarm');
  const single = stack.all('AWS::CloudWatch::Alarm');
  const ruleOf = ({ Properties }: Resource) =>
    Properties.AlarmRule['Fn::Join'][1]
      .map((part: Json) => (part['Fn::GetAtt'] ? nameOf(stack.get(part['Fn::GetAtt'][0])) : part))
      .join('')
      .replaceAll('"', '')
      .replace(/^\((.*)\)$/, '$1');

  it('are these, as docs/runbook/alarms.md has them', () => {
    const entry = (alarm: Resource, ...lines: readonly string[]) => {
      const description = alarm.Properties.AlarmDescription.replace(/ Runbook: .*/, '');
      return [`${nameOf(alarm)}: ${description}`, ...lines].join('\n  ');
    };
    const texts = [
      ...single.map((alarm) => entry(alarm, ...linesOf(alarm))),
      ...composites.map((alarm) => entry(alarm, ruleOf(alarm))),
    ];
    expect(texts.sort().join('\n')).toMatchSnapshot();
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
  const states = widgets.find(({ type }) => type === 'alarm').properties.alarms;
  const notifying = stack.resources.filter(({ Properties }) => Properties.AlarmActions);
  const names = notifying.map(({ Properties }) => Properties.AlarmName).sort();
  expect(states.map((arn: string) => arn.split(':').at(-1)).sort()).toEqual(names);
  const graphs = widgets.map(({ properties: { title, start, metrics = [], annotations, yAxis } }) => {
    const series: string[] = metrics.map((metric: Json) => {
      const { label, id, expression, stat, period = 300 } = metric.at(-1);
      const names = metric.slice(0, -1).map(named).join(' ');
      return `${label ?? id} = ${expression ?? `${stat} of ${period} s of ${names}`}`;
    });
    const thresholds = (annotations?.horizontal ?? []).map(({ value }: Json) => `line at ${value}`);
    return { title, text: [yAxis?.left.label ?? start, ...series, ...thresholds].join('\n  ') };
  });
  // Beside their section of the runbook. The metric of an alarm with a condition may not exist.
  for (const { Properties, Condition } of stack.all('AWS::CloudWatch::Alarm')) {
    const { text } = graphs.find(({ title }) => Properties.AlarmDescription.endsWith(`#${title}`)) ?? {};
    const label = Properties.AlarmName.replace(`${stackId}-`, '');
    const shown = new RegExp(`^  ${label} = [^]*^  line at ${Properties.Threshold}$`, 'm');
    if (!Condition) expect(text).toMatch(shown);
  }
  // The alarms' own lines are above: their names and ids begin with a small letter, and are one word.
  const own = /\n {2}(line at .*|[a-z][\w-]* = .*)/g;
  const shown = graphs.map(({ title, text }) => [title, /^[A-Z]/.test(title) ? text : text.replace(own, '')]);
  expect(shown.map((each) => each.join(': ')).join('\n')).toMatchSnapshot();
});
