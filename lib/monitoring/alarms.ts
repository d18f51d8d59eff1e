import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type ComparisonOperator,
  type MathExpression,
  type Metric,
  type TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

export interface AlarmProps {
  /** What has happened, as a sentence for the person on call. */
  readonly meaning: string;
  /** The heading in `docs/runbook.md` that says what to do, as it stands in a link. @default - the alarm's name */
  readonly heading?: string;
  readonly metric: Metric | MathExpression;
  readonly comparison: ComparisonOperator;
  /** In the metric's unit. */
  readonly threshold: number;
  /** Periods of the metric that have to breach. @default 1 */
  readonly periods?: number;
  /** How many of the last periods these may be among. @default - `periods`: they breach in a row */
  readonly among?: number;
  /** What a period without data says; CloudWatch's own default would leave many alarms undecided. */
  readonly missing: TreatMissingData;
}

/** An alarm as a dashboard shows it. */
export interface ShownAlarm extends Pick<AlarmProps, 'metric' | 'threshold'> {
  readonly alarmName: string;
  readonly heading: string;
}

/** The alarms of a stack: named after it, sent to its topic when they begin and when they end. */
export class Alarms extends Construct {
  /** Every alarm so far, by its name without the stack's. */
  readonly byName = new Map<string, ShownAlarm>();
  private readonly topic: ITopic;

  constructor(scope: Construct, id: string, { topic }: { readonly topic: ITopic }) {
    super(scope, id);
    this.topic = topic;
  }

  /** @param name in lowercase with hyphens, such as `api-errors` */
  add(name: string, props: AlarmProps): Alarm {
    const { meaning, heading = name, metric, comparison, threshold, missing } = props;
    const { periods = 1, among = periods } = props;
    const alarmName = `${Stack.of(this).stackName}-${name}`;
    const alarm = new Alarm(this, name, {
      alarmName,
      alarmDescription: `${meaning} Runbook: docs/runbook.md#${heading}`,
      metric,
      comparisonOperator: comparison,
      threshold,
      evaluationPeriods: among,
      ...(among > periods && { datapointsToAlarm: periods }),
      treatMissingData: missing,
      // A percentile of few requests says nothing.
      ...(isPercentile(metric) && { evaluateLowSampleCountPercentile: 'ignore' }),
    });
    const action = new SnsAction(this.topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.byName.set(name, { alarmName, heading, metric, threshold });
    return alarm;
  }
}

const isPercentile = (metric: AlarmProps['metric']) =>
  /^p\d/.test(metric.toMetricConfig().metricStat?.statistic ?? '');
