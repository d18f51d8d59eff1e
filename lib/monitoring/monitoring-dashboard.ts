import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type HorizontalAnnotation,
  type IMetric,
  PeriodOverride,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { withStableLogicalId } from '../stable-logical-id';
import type { Alarms, ShownAlarm } from './alarms';

/** One line of graphs, below a text with the headings of their alarms in the runbook. */
export interface DashboardRow {
  readonly title: string;
  readonly graphs: readonly DashboardGraph[];
}

export interface DashboardGraph {
  readonly title: string;
  /** Of the axis, and of every metric and threshold in the graph. */
  readonly unit: string;
  /** Labels of the metrics of alarms, by the alarms' names; each alarm's threshold is a line. @default - none */
  readonly alarms?: Readonly<Record<string, string>>;
  /** Metrics that no alarm watches. @default - none */
  readonly metrics?: readonly IMetric[];
  /** Names of alarms that watch something else of the same: only their headings are shown. @default - none */
  readonly related?: readonly string[];
}

export interface MonitoringDashboardProps {
  readonly alarms: Alarms;
  readonly rows: readonly DashboardRow[];
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html */
const columns = 24;

/**
 * The environment in CloudWatch's console: the state of its alarms, then a row of graphs for each part. Dashboards are
 * global in an account: docs/decisions/alarms.md says what one may hold.
 */
export class MonitoringDashboard extends Construct {
  /** In the console of the stack's region. */
  readonly url: string;
  private readonly alarms: Alarms;

  constructor(scope: Construct, id: string, { alarms, rows }: MonitoringDashboardProps) {
    super(scope, id);
    this.alarms = alarms;
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
    dashboard.addWidgets(this.alarmStatus());
    for (const { title, graphs } of rows) {
      dashboard.addWidgets(this.heading(title, graphs));
      dashboard.addWidgets(...graphs.map((graph) => this.graph(graph, columns / graphs.length)));
    }
    this.url = `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#dashboards/dashboard/${stackName}`;
  }

  /** By their names: those on a gateway do not exist while the webhook origin is detached. */
  private alarmStatus(): AlarmStatusWidget {
    const alarms = [...this.alarms.byName].map(([name, { alarmName }]) =>
      Alarm.fromAlarmName(this, name, alarmName),
    );
    return new AlarmStatusWidget({ title: 'Alarms', alarms, width: columns, height: 5 });
  }

  private heading(title: string, graphs: readonly DashboardGraph[]): TextWidget {
    const names = graphs.flatMap(({ alarms = {}, related = [] }) => [...Object.keys(alarms), ...related]);
    const headings = new Set(names.map((name) => `\`#${this.alarm(name).heading}\``));
    return new TextWidget({
      markdown: `## ${title}\n${[...headings].join(' ')}`.trim(),
      width: columns,
      height: 2,
    });
  }

  private graph({ title, unit, alarms = {}, metrics = [] }: DashboardGraph, width: number) {
    const shown = Object.entries(alarms).map(([name, label]) => ({ ...this.alarm(name), name, label }));
    return new GraphWidget({
      title,
      left: [...shown.map(({ metric, label }) => metric.with({ label })), ...metrics],
      leftAnnotations: thresholdsOf(shown),
      leftYAxis: { label: unit, min: 0, showUnits: false },
      width,
      height: 6,
    });
  }

  private alarm(name: string): ShownAlarm {
    const found = this.alarms.byName.get(name);
    if (found === undefined) {
      throw new Error(`There is no alarm ${name}: name one that a file of lib/monitoring adds.`);
    }
    return found;
  }
}

const introduction = (stackName: string) =>
  new TextWidget({
    markdown: `# ${stackName}\nThe stack's next deployment undoes changes made here. Begin with \`docs/runbook.md#looking-at-an-environment\`; the headings below are in the same document.`,
    width: columns,
    height: 2,
  });

/** By the alarm's name, or by the heading of alarms that share it, such as the functions'. */
function thresholdsOf(alarms: readonly (ShownAlarm & { readonly name: string })[]): HorizontalAnnotation[] {
  return alarms
    .filter((alarm, index) => alarms.findIndex((other) => isSameLine(alarm, other)) === index)
    .map((alarm) => ({
      label: alarms.filter((other) => isSameLine(alarm, other)).length > 1 ? alarm.heading : alarm.name,
      value: alarm.threshold,
    }));
}

const isSameLine = (one: ShownAlarm, other: ShownAlarm) =>
  one.heading === other.heading && one.threshold === other.threshold;
