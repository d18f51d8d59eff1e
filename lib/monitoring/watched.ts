import { Duration } from 'aws-cdk-lib';
import {
  type CfnAlarm,
  ComparisonOperator,
  type IMetric,
  type MathExpression,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';

/** One line of graphs on the dashboard, below a text with the headings of their alarms in the runbook. */
export interface Row {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

export interface Graph {
  readonly title: string;
  /** Of the axis, and of every metric and threshold in the graph. */
  readonly unit: string;
  /** Metrics that no alarm watches. @default - none */
  readonly metrics?: readonly IMetric[];
  /** @default - none */
  readonly alarms?: readonly AlarmProps[];
}

export interface AlarmProps {
  /** In lowercase with hyphens, such as `api-errors`; the stack's name comes before it. */
  readonly name: string;
  /** What has happened, as a sentence for the person on call. */
  readonly description: string;
  /** The heading in `docs/runbook.md` that says what to do, as it stands in a link. @default - the name */
  readonly runbookAnchor?: string;
  readonly metric: Metric | MathExpression;
  /** Of the metric in the graph, with the threshold as a line. @default - the graph does not show them */
  readonly label?: string;
  /** In the metric's unit. */
  readonly threshold: number;
  /** @default GREATER_THAN_OR_EQUAL_TO_THRESHOLD */
  readonly comparisonOperator?: ComparisonOperator;
  /** Periods of the metric that are looked at. @default 1 */
  readonly evaluationPeriods?: number;
  /** How many of them have to breach. @default - all */
  readonly datapointsToAlarm?: number;
  /** @default NOT_BREACHING: no event, no data */
  readonly treatMissingData?: TreatMissingData;
  /** Under which the alarm exists. @default - always */
  readonly condition?: CfnAlarm['cfnOptions']['condition'];
}

export const { GREATER_THAN_THRESHOLD } = ComparisonOperator;
export const { BREACHING } = TreatMissingData;

export const period = Duration.minutes(5);
export const perPeriod = 'in 5 minutes';
export const sum = { period, statistic: 'Sum' };
export const maximum = { period, statistic: 'Maximum' };
