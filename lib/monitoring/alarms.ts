import { Stack } from 'aws-cdk-lib';
import { Alarm, type CfnAlarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Environment } from '../environment';
import type { OperationsKey } from './operations-key';
import type { AlarmProps } from './watched';

export interface AlarmTopicProps {
  readonly environment: Environment;
  readonly key: OperationsKey;
}

/**
 * Receives every alarm of a stack; the people on call subscribe. Encrypted with a key of the stack, because
 * CloudWatch may not use the one of SNS.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html#compatibility-with-aws-services
 */
export class AlarmTopic extends Topic {
  constructor(scope: Construct, id: string, { environment, key }: AlarmTopicProps) {
    super(scope, id, { displayName: `Alarms of ${environment.name}`, masterKey: key, enforceSSL: true });
    key.admitAlarms();
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    if (environment.alarmEmail !== undefined) {
      this.addSubscription(new EmailSubscription(environment.alarmEmail));
    }
  }
}

/** The alarms of a stack: named after it, sent to its topic when they begin and when they end. */
export class Alarms extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { topic, alarms }: { readonly topic: ITopic; readonly alarms: readonly AlarmProps[] },
  ) {
    super(scope, id);
    const action = new SnsAction(topic);
    for (const props of alarms) {
      const { name, metric, threshold, datapointsToAlarm } = props;
      const isPercentile = /^p\d/.test(metric.toMetricConfig().metricStat?.statistic ?? '');
      const alarm = new Alarm(this, name, {
        alarmName: `${Stack.of(this).stackName}-${name}`,
        alarmDescription: `${props.description} Runbook: docs/runbook.md#${runbookAnchorOf(props)}`,
        metric,
        threshold,
        comparisonOperator: props.comparisonOperator ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: props.evaluationPeriods ?? 1,
        ...(datapointsToAlarm !== undefined && { datapointsToAlarm }),
        treatMissingData: props.treatMissingData ?? TreatMissingData.NOT_BREACHING,
        // A percentile of few requests says nothing.
        ...(isPercentile && { evaluateLowSampleCountPercentile: 'ignore' }),
      });
      if (props.condition) (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = props.condition;
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }
}

export const runbookAnchorOf = ({ name, runbookAnchor = name }: AlarmProps): string => runbookAnchor;
