import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  PeriodOverride,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { withStableLogicalId } from '../stable-logical-id';
import {
  type AlarmRow,
  Alarms,
  type AlarmsProps,
  notifyingNames,
  runbookAnchorOf,
  type Watched,
} from './alarms';
import { apiAlarms, functionAlarms } from './api-alarms';
import { backupAlarms } from './backup-alarms';
import { databaseAlarms } from './database-alarms';
import { LogMetrics } from './log-metrics';
import { deliveryMetric, sum } from './metrics';
import { objectiveWidget } from './objective';
import { originAlarms, proofAlarms, webhookAlarms } from './webhook-alarms';

export type MonitoringProps = Watched & Pick<AlarmsProps, 'key'>;

/** The alarms of a serving region with a service level agreement, and their CloudWatch dashboard. */
export class Monitoring extends Construct {
  /** Receives every alarm's changes to ALARM and OK. */
  readonly topic: Topic;
  /** Opens the console of the stack's region. */
  readonly cloudWatchDashboardUrl: string;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { environment, key, api } = props;
    const logMetrics = new LogMetrics(this, 'LogMetrics', props);
    const alarms = [
      ...proofAlarms(props),
      ...apiAlarms(props, logMetrics),
      ...functionAlarms(props),
      ...databaseAlarms(props, logMetrics),
      ...backupAlarms(this, props),
      ...webhookAlarms(props, logMetrics),
      ...originAlarms(props),
    ];
    this.topic = new Alarms(this, 'Alarms', { environment, key, alarms }).topic;
    const stage = api.restApi.deploymentStage;
    const age = (statistic: string) => deliveryMetric(environment, 'Age', { statistic, label: statistic });
    this.cloudWatchDashboardUrl = addCloudWatchDashboard(new Construct(this, 'Dashboard'), alarms, [
      objectiveWidget(props),
      ...graphsOf(alarms),
      graph('Requests', [
        stage.metricCount({ ...sum, label: 'All' }),
        stage.metricClientError({ ...sum, label: '4xx' }),
        stage.metricServerError({ ...sum, label: '5xx' }),
      ]),
      graph('Refusals by code', [logMetrics.refusals]),
      graph("API Gateway's own responses by type", [logMetrics.gatewayResponses]),
      graph(
        'Webhook attempts by outcome, and what ended or paused',
        (['Delivered', 'Failed', 'GivenUp', 'Disabled', 'Paused'] as const).map((metricName) =>
          deliveryMetric(environment, metricName, { label: metricName }),
        ),
      ),
      graph('Age of completed deliveries', [age('p50'), age('p99')], 'ms'),
    ]);
  }
}

/** @param thresholds horizontal lines */
const graph = (
  title: string,
  left: IMetric[],
  label = 'in 5 minutes',
  thresholds: readonly number[] = [],
): GraphWidget =>
  new GraphWidget({
    title,
    left,
    leftAnnotations: thresholds.map((value) => ({ value })),
    leftYAxis: { label, min: 0, showUnits: false },
    width: 6,
    height: 6,
  });

/** One for all alarms with the same anchor. */
function graphsOf(alarms: readonly AlarmRow[]): readonly GraphWidget[] {
  return [...new Set(alarms.map(runbookAnchorOf))].flatMap((title) => {
    const rows = alarms.filter((row) => runbookAnchorOf(row) === title);
    // The metric of an alarm with a condition may not exist.
    const always = rows.filter(({ condition }) => condition === undefined);
    const metrics = always.map(({ metric, name }) => metric.with({ label: name }));
    const left = [...metrics, ...rows.flatMap(({ context = [] }) => context)];
    const thresholds = new Set(always.map(({ threshold }) => threshold));
    return left.length > 0 ? [graph(title, left, rows[0]?.unit, [...thresholds])] : [];
  });
}

/**
 * The environment in CloudWatch's console: the state of its alarms, and widgets. Dashboards are global in an account:
 * docs/decisions/residency-checks.md lists the permitted content.
 * @returns its address
 */
function addCloudWatchDashboard(
  scope: Construct,
  alarms: readonly AlarmRow[],
  widgets: readonly IWidget[],
): string {
  const { stackName, region } = Stack.of(scope);
  const dashboard = new Dashboard(scope, 'Dashboard', {
    dashboardName: stackName,
    defaultInterval: Duration.hours(3),
    // Thresholds are per period of their metric, whatever time range is shown.
    periodOverride: PeriodOverride.INHERIT,
  });
  withStableLogicalId(dashboard, 'MonitoringDashboard');
  const markdown = `# ${stackName}\nChanges made here are drift: make them in the stack. Begin with \`docs/runbook.md#looking-at-an-environment\`; graphs have the names of the alarms' sections, and their thresholds as lines.`;
  // Refers to alarms by name, because a conditional alarm may not exist.
  const states = notifyingNames(alarms).map((name) =>
    Alarm.fromAlarmName(scope, name, `${stackName}-${name}`),
  );
  // Units of the grid, 24 wide: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
  dashboard.addWidgets(new TextWidget({ markdown, width: 24, height: 2 }));
  dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms: states, width: 24, height: 5 }));
  dashboard.addWidgets(...widgets);
  return `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${stackName}`;
}
