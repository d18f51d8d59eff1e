import type { Resource } from './stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const gap = '  ';

/** A table's lines, whose cells have two spaces or more between them, as `linesOfAlarms` has them. */
export const linesOf = (table: string): string[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, gap));

/**
 * What alarms watch, by their names: when each is raised, how many of how many periods that takes, what silence says,
 * and the metric. One that calculates has its expression there, and below it a line for each metric that goes in.
 *
 * @param stackName what the names begin with
 */
export const linesOfAlarms = (stackName: string, alarms: readonly Resource[]): string[] =>
  alarms
    .map(({ Properties }) => linesOfAlarm(stackName, Properties))
    .sort(([one = ''], [other = '']) => (one < other ? -1 : 1))
    .flat();

function linesOfAlarm(stackName: string, alarm: Json): string[] {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = alarm;
  const head = [
    alarm.AlarmName.replace(`${stackName}-`, ''),
    `${comparisons[alarm.ComparisonOperator]} ${alarm.Threshold}`,
    `${DatapointsToAlarm} of ${EvaluationPeriods}`,
    alarm.TreatMissingData,
  ].join(gap);
  const { Metrics, Period, Statistic, ExtendedStatistic = Statistic } = alarm;
  if (Metrics === undefined) return [head + gap + metric(alarm, Period, ExtendedStatistic)];
  return Metrics.map(({ Id, Expression, MetricStat }: Json) =>
    Expression
      ? head + gap + Expression
      : Id + gap + metric(MetricStat.Metric, MetricStat.Period, MetricStat.Stat),
  );
}

function metric({ Namespace, MetricName, Dimensions = [] }: Json, period: number, statistic: string): string {
  const dimensions = Dimensions.map(({ Name, Value }: Json) => `${Name}=${resourceOrText(Value)}`);
  return [`${statistic} of ${period} s`, `${Namespace} ${MetricName}`, ...dimensions].join(gap);
}

/** A resource is named without the hash of its logical id. */
export function resourceOrText(value: Json): string {
  if (typeof value === 'string') return value;
  const [logicalId, attribute] = value['Fn::GetAtt'] ?? [value.Ref];
  const name = logicalId.replace(/[0-9A-F]{8}$/, '');
  return attribute ? `{${name}.${attribute}}` : `{${name}}`;
}

const comparisons: Readonly<Record<string, string>> = {
  GreaterThanOrEqualToThreshold: '>=',
  GreaterThanThreshold: '>',
  LessThanOrEqualToThreshold: '<=',
  LessThanThreshold: '<',
};
