import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
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
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Api } from '../api/api';
import type { RouteFunctions } from '../api/routes';
import type { Dashboard } from '../dashboard/dashboard';
import type { Environment } from '../environment/schema';
import type { HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import type { OperationsKey } from './operations-key';

/** What is watched in a region that serves. */
export interface Watched {
  readonly environment: Environment & Required<Pick<Environment, 'objective'>>;
  readonly api: Api;
  readonly dashboard: Dashboard;
  readonly authorizeRequest: HandlerFunction;
  readonly routeFunctions: RouteFunctions;
  readonly runOperation: HandlerFunction;
  readonly clusterIdentifier: string;
  /** `drillArn` identifies the restore testing plan. */
  readonly backups: { readonly vaultName: string; readonly vaultArn: string; readonly drillArn: string };
  readonly webhooks: Webhooks;
  /** Sends a webhook to the environment itself, every `probeMinutes`. */
  readonly probe: LambdaFunction;
  readonly webhookOrigin: WebhookOrigin;
}

/** CloudWatch's settings. Unless set: one period, `>=` the threshold, missing data is not breaching. */
export interface AlarmRow extends Omit<AlarmProps, 'metric' | 'evaluationPeriods'> {
  /** Lowercase words joined by hyphens, such as `api-latency`. The stack's name precedes it. */
  readonly name: string;
  /** What has happened, as a sentence for the person on call. */
  readonly description: string;
  /** Anchor of the instructions in `docs/runbook/alarms.md`, and title of the graph that all its alarms share. @default - the name */
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

const notifyingName = ({ name, composite }: AlarmRow): string => composite?.name ?? name;

/** The alarms that notify, by name: composite alarms instead of their parts. */
export const notifyingNames = (alarms: readonly AlarmRow[]) => [...new Set(alarms.map(notifyingName))];

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
    this.topic = new Topic(scope, 'Topic', { displayName, masterKey: key, enforceSSL: true });
    key.allowAlarms();
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    );
    if (environment.alarmEmail !== undefined) {
      this.topic.addSubscription(new EmailSubscription(environment.alarmEmail));
    }
    const describe = (description: string, row: AlarmRow) =>
      `${description} Runbook: docs/runbook/alarms.md#${runbookAnchorOf(row)}`;
    const created = alarms.map((row) => {
      const alarm = new Alarm(this, row.name, {
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        ...row,
        alarmName: `${stackName}-${row.name}`,
        alarmDescription: describe(row.description, row),
      });
      if (row.condition) (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = row.condition;
      return { row, alarm };
    });
    for (const { row, alarm } of created) {
      const name = notifyingName(row);
      const parts = created.filter((each) => notifyingName(each.row) === name);
      if (parts[0]?.alarm !== alarm) continue;
      const notifying = row.composite
        ? new CompositeAlarm(this, name, {
            compositeAlarmName: `${stackName}-${name}`,
            alarmDescription: describe(row.composite.description, row),
            alarmRule: AlarmRule.allOf(
              ...parts.map((part) => AlarmRule.fromAlarm(part.alarm, AlarmState.ALARM)),
            ),
          })
        : alarm;
      notifying.addAlarmAction(new SnsAction(this.topic));
      notifying.addOkAction(new SnsAction(this.topic));
    }
  }
}
