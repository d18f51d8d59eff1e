import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  type AlarmProps,
  AlarmRule,
  AlarmState,
  type CfnAlarm,
  ComparisonOperator,
  CompositeAlarm,
  type IMetric,
  type MathExpression,
  type Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Environment } from '../environment/schema';
import type { OperationsKey } from './operations-key';

/** CloudWatch's settings. Unless set: one period, `>=` the threshold, missing data is not breaching. */
export interface AlarmRow
  extends Pick<AlarmProps, 'threshold' | 'comparisonOperator' | 'datapointsToAlarm' | 'treatMissingData'> {
  /** Lowercase words joined by hyphens, such as `api-latency`. The stack's name precedes it. */
  readonly name: string;
  /** What has happened, as a sentence for the person on call. */
  readonly description: string;
  /** Anchor in `docs/runbook.md`, which leads to the instructions, and title of the graph that all its alarms share. @default - the name */
  readonly runbookAnchor?: string;
  readonly metric: Metric | MathExpression;
  readonly evaluationPeriods?: number;
  /** Unit of the metric and the threshold, for the graph. @default 'in 5 minutes' */
  readonly unit?: string;
  /** Shown beside the metric in the graph. @default - none */
  readonly context?: readonly IMetric[];
  /** The alarm exists only if it is true; the graph has only the context, since the metric may not exist. @default - always */
  readonly condition?: CfnAlarm['cfnOptions']['condition'];
  /** Notifies instead of this alarm, while all alarms with the same one are in ALARM. @default - this alarm notifies */
  readonly composite?: Pick<AlarmRow, 'name' | 'description'>;
}

/** The alarms that notify, by name: composite alarms instead of their parts. */
export const notifyingNames = (alarms: readonly AlarmRow[]): readonly string[] => [
  ...new Set(alarms.map(({ name, composite = { name } }) => composite.name)),
];

export const runbookAnchorOf = ({ name, runbookAnchor = name }: AlarmRow): string => runbookAnchor;

export interface AlarmsProps {
  readonly environment: Environment;
  /** Encrypts the topic: CloudWatch may not use the default key of SNS. */
  readonly key: OperationsKey;
  readonly alarms: readonly AlarmRow[];
}

/** Alarms, named after their stack, and the encrypted topic that they notify of ALARM and OK. */
export class Alarms extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { environment, key, alarms }: AlarmsProps) {
    super(scope, id);
    const { stackName, account } = Stack.of(this);
    const displayName = `Alarms of ${environment.name}`;
    const topic = new Topic(scope, 'Topic', { displayName, masterKey: key, enforceSSL: true });
    key.allowAlarms();
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    );
    if (environment.alarmEmail !== undefined) {
      topic.addSubscription(new EmailSubscription(environment.alarmEmail));
    }
    const describe = (description: string, row: AlarmRow) =>
      `${description} Runbook: docs/runbook.md#${runbookAnchorOf(row)}`;
    const notify = (alarm: AlarmBase) => {
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    };
    const composites = new Map<string, { readonly row: AlarmRow; readonly parts: Alarm[] }>();
    for (const row of alarms) {
      const { name, description, composite, condition, ...rest } = row;
      const { runbookAnchor: _, unit: __, context: ___, ...settings } = rest;
      const isPercentile = /^p\d/.test(row.metric.toMetricConfig().metricStat?.statistic ?? '');
      const alarm = new Alarm(this, name, {
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        // A percentile of few requests is meaningless.
        ...(isPercentile && { evaluateLowSampleCountPercentile: 'ignore' }),
        ...settings,
        alarmName: `${stackName}-${name}`,
        alarmDescription: describe(description, row),
      });
      if (condition) (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = condition;
      if (!composite) notify(alarm);
      else if (!composites.get(composite.name)?.parts.push(alarm))
        composites.set(composite.name, { row: { ...row, ...composite }, parts: [alarm] });
    }
    for (const { row, parts } of composites.values()) {
      const alarm = new CompositeAlarm(this, row.name, {
        compositeAlarmName: `${stackName}-${row.name}`,
        alarmDescription: describe(row.description, row),
        alarmRule: AlarmRule.allOf(...parts.map((part) => AlarmRule.fromAlarm(part, AlarmState.ALARM))),
      });
      notify(alarm);
    }
    this.topic = topic;
  }
}
