import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type HorizontalAnnotation,
  PeriodOverride,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { withStableLogicalId } from '../stable-logical-id';
import { runbookAnchorOf } from './alarms';
import type { AlarmProps, Graph, Row } from './watched';

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html */
const columns = 24;

/**
 * The environment in CloudWatch's console: the state of its alarms, then a row of graphs for each part. Dashboards are
 * global in an account: docs/decisions/residency-checks.md says what one may hold.
 */
export class MonitoringDashboard extends Construct {
  /** In the console of the stack's region. */
  readonly url: string;

  constructor(scope: Construct, id: string, rows: readonly Row[]) {
    super(scope, id);
    const { stackName, region } = Stack.of(this);
    const dashboard = new Dashboard(this, 'Dashboard', {
      // No two rows of the table have the same.
      dashboardName: stackName,
      defaultInterval: Duration.hours(3),
      // A threshold is about the period of its metric, whatever time is looked at.
      periodOverride: PeriodOverride.INHERIT,
    });
    withStableLogicalId(dashboard, 'MonitoringDashboard');
    dashboard.addWidgets(introduction(stackName));
    dashboard.addWidgets(this.alarmStatus(rows.flatMap(alarmsOf), stackName));
    for (const row of rows) {
      dashboard.addWidgets(heading(row));
      dashboard.addWidgets(...row.graphs.map((each) => graph(each, columns / row.graphs.length)));
    }
    this.url = `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${stackName}`;
  }

  /** By their names: those on a gateway do not exist while the webhook origin is detached. */
  private alarmStatus(props: readonly AlarmProps[], stackName: string): AlarmStatusWidget {
    const alarms = props.map(({ name }) => Alarm.fromAlarmName(this, name, `${stackName}-${name}`));
    return new AlarmStatusWidget({ title: 'Alarms', alarms, width: columns, height: 5 });
  }
}

export const alarmsOf = ({ graphs }: Row): readonly AlarmProps[] =>
  graphs.flatMap(({ alarms = [] }) => alarms);

const introduction = (stackName: string) =>
  new TextWidget({
    markdown: `# ${stackName}\nThe stack's next deployment undoes changes made here. Begin with \`docs/runbook.md#looking-at-an-environment\`; the headings below are in the same document.`,
    width: columns,
    height: 2,
  });

function heading(row: Row): TextWidget {
  const anchors = new Set(alarmsOf(row).map((alarm) => `\`#${runbookAnchorOf(alarm)}\``));
  return new TextWidget({
    markdown: `## ${row.title}\n${[...anchors].join(' ')}`.trim(),
    width: columns,
    height: 2,
  });
}

function graph({ title, unit, metrics = [], alarms = [] }: Graph, width: number): GraphWidget {
  const shown = alarms.flatMap(({ label, ...alarm }) => (label === undefined ? [] : [{ ...alarm, label }]));
  return new GraphWidget({
    title,
    left: [...shown.map(({ metric, label }) => metric.with({ label })), ...metrics],
    leftAnnotations: thresholdsOf(shown),
    leftYAxis: { label: unit, min: 0, showUnits: false },
    width,
    height: 6,
  });
}

/** One line for alarms that share a heading and a threshold, such as the functions'. */
function thresholdsOf(alarms: readonly AlarmProps[]): HorizontalAnnotation[] {
  const lines = new Map<string, { readonly label: string; readonly value: number }>();
  for (const alarm of alarms) {
    const anchor = runbookAnchorOf(alarm);
    const line = `${anchor} ${alarm.threshold}`;
    lines.set(line, { label: lines.has(line) ? anchor : alarm.name, value: alarm.threshold });
  }
  return [...lines.values()];
}
