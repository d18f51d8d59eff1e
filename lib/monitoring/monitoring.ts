import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  PeriodOverride,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Api } from '../api/api';
import type { Dashboard as PublicDashboard } from '../dashboard/dashboard';
import type { Environment } from '../environment';
import type { WebhookOrigin } from '../network/webhook-origin';
import { withStableLogicalId } from '../stable-logical-id';
import type { Webhooks } from '../webhooks/webhooks';
import { type AlarmRow, Alarms, type Graph, type Row, runbookAnchorOf } from './alarms';
import { LogMetrics } from './log-metrics';
import type { OperationsKey } from './operations-key';
import {
  apiRow,
  databaseRow,
  deletionsRow,
  functionsRow,
  standbyReplication,
  type WatchedFunction,
} from './service-rows';
import { deliveriesRow, originRow, queuesRow } from './webhook-rows';

export interface MonitoringProps {
  readonly environment: Environment;
  /** Encrypts the topic. */
  readonly key: OperationsKey;
  readonly api: Api;
  readonly dashboard: PublicDashboard;
  /** By the names in their alarms. */
  readonly functions: Readonly<Record<string, WatchedFunction>> &
    Record<'authorize-request' | 'delete-user-group', WatchedFunction>;
  /** Of the database. */
  readonly clusterIdentifier: string;
  readonly webhooks: Webhooks;
  readonly webhookOrigin: WebhookOrigin;
}

/** The alarms of a serving region with a service level agreement, and their dashboard in CloudWatch. */
export class Monitoring extends Construct {
  /** Receives every alarm's changes to ALARM and OK. */
  readonly topicArn: string;
  /** In the console of the stack's region. */
  readonly dashboardUrl: string;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { environment, key, api, dashboard, functions, webhooks, webhookOrigin } = props;
    const logMetrics = new LogMetrics(this, 'LogMetrics', {
      accessLog: api.accessLog,
      authorizerLog: functions['authorize-request'].lambda.logGroup,
      deletionLog: functions['delete-user-group'].lambda.logGroup,
    });
    const rows = [
      apiRow(api, logMetrics),
      deletionsRow(logMetrics),
      deliveriesRow(),
      queuesRow(webhooks),
      originRow(environment, webhookOrigin, webhooks),
      functionsRow(functions, dashboard),
      databaseRow(environment, props.clusterIdentifier),
    ];
    const alarms = rows.flatMap(alarmsOf);
    this.topicArn = new Alarms(this, 'Alarms', { environment, key, alarms }).topicArn;
    this.dashboardUrl = addDashboard(new Construct(this, 'Dashboard'), rows);
  }
}

export interface StandbyMonitoringProps extends Pick<MonitoringProps, 'environment' | 'key'> {
  /** Of the replica. */
  readonly clusterIdentifier: string;
  /** Where the primary is. */
  readonly sourceRegion: string;
}

/** The one alarm of a standby region. */
export class StandbyMonitoring extends Construct {
  /** Receives the alarm's changes to ALARM and OK. */
  readonly topicArn: string;

  constructor(scope: Construct, id: string, props: StandbyMonitoringProps) {
    super(scope, id);
    const { environment, key, clusterIdentifier, sourceRegion } = props;
    const alarms = [standbyReplication(clusterIdentifier, sourceRegion)];
    this.topicArn = new Alarms(this, 'Alarms', { environment, key, alarms }).topicArn;
  }
}

/** Units of the grid: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html */
const width = 24;

/**
 * The environment in CloudWatch's console: the state of its alarms, then a row of graphs for each part. Dashboards are
 * global in an account: docs/decisions/residency-checks.md lists the permitted content.
 *
 * @returns its address
 */
function addDashboard(scope: Construct, rows: readonly Row[]): string {
  const { stackName, region } = Stack.of(scope);
  const dashboard = new Dashboard(scope, 'Dashboard', {
    dashboardName: stackName,
    defaultInterval: Duration.hours(3),
    // Thresholds are per period of their metric, whatever time range is shown.
    periodOverride: PeriodOverride.INHERIT,
  });
  withStableLogicalId(dashboard, 'MonitoringDashboard');
  const introduction = `# ${stackName}\nThe stack's next deployment undoes changes made here. Begin with \`docs/runbook.md#looking-at-an-environment\`; the headings below are in the same document.`;
  dashboard.addWidgets(new TextWidget({ markdown: introduction, width, height: 2 }));
  // By name, since a conditional alarm may not exist.
  const alarms = rows
    .flatMap(alarmsOf)
    .map(({ name }) => Alarm.fromAlarmName(scope, name, `${stackName}-${name}`));
  dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width, height: 5 }));
  for (const row of rows) {
    const anchors = new Set(alarmsOf(row).map((alarm) => `\`#${runbookAnchorOf(alarm)}\``));
    const markdown = `## ${row.title}\n${[...anchors].join(' ')}`.trim();
    dashboard.addWidgets(new TextWidget({ markdown, width, height: 2 }));
    dashboard.addWidgets(...row.graphs.map((graph) => graphWidget(graph, width / row.graphs.length)));
  }
  return `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${stackName}`;
}

const alarmsOf = ({ graphs }: Row): readonly AlarmRow[] => graphs.flatMap(({ alarms = [] }) => alarms);

function graphWidget(graph: Graph, width: number): GraphWidget {
  const { title, unit = 'in 5 minutes', metrics = [], alarms = [] } = graph;
  // The metric of an alarm with a condition may not exist; `metrics` has a search for it.
  const shown = alarms.filter(({ condition }) => condition === undefined);
  // Alarms with the same anchor and threshold share a line, such as those of functions.
  const thresholds = new Map(
    shown.map((alarm) => {
      const label = runbookAnchorOf(alarm);
      return [`${label} ${alarm.threshold}`, { label, value: alarm.threshold }];
    }),
  );
  return new GraphWidget({
    title,
    left: [...shown.map(({ metric, name }) => metric.with({ label: name })), ...metrics],
    leftAnnotations: [...thresholds.values()],
    leftYAxis: { label: unit, min: 0, showUnits: false },
    width,
    height: 6,
  });
}
