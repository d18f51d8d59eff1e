import { environments } from '../../lib/environments';
import { dashboardOf, resourceOrText, type Widget } from '../support/dashboard-body';
import { metricsOfDelivery } from '../support/delivery-metrics';
import { missingHeadings } from '../support/documents';
import { withSla } from '../support/rows';
import { type StackTemplate, synthesizeStacks } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/**
 * Metrics of AWS that no alarm watches, by namespace.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html
 */
const documented: Readonly<Record<string, readonly string[]>> = {
  'AWS/ApiGateway': ['4XXError', 'Count', 'IntegrationLatency', 'Latency', '5XXError'],
  'AWS/NATGateway': [
    'ActiveConnectionCount',
    'ConnectionAttemptCount',
    'ConnectionEstablishedCount',
    'ErrorPortAllocation',
    'PacketsDropCount',
    'PacketsInFromDestination',
    'PacketsOutToDestination',
  ],
  'AWS/RDS': ['AuroraGlobalDBRPOLag'],
  'AWS/SQS': ['ApproximateNumberOfMessagesDelayed', 'ApproximateNumberOfMessagesVisible'],
};

/** Dimensions that name resources or have a fixed set of values. None identifies an organization. */
const dimensionNames = [
  'ApiName',
  'DBClusterIdentifier',
  'FunctionName',
  'NatGatewayId',
  'QueueName',
  'Region',
  'Role',
  'Rule',
  'SourceRegion',
  'Stage',
  'WebACL',
  'code',
  'service',
  'type',
];

interface Metric {
  readonly namespace: string;
  readonly name: string;
  /** Sorted names, with values except in searches. */
  readonly dimensions: readonly string[];
}

const { standby: _, ...alone } = withSla;
const stacks = synthesizeStacks([
  ...environments.filter(({ serviceLevelAgreement }) => serviceLevelAgreement),
  { ...alone, name: 'reserved', stackId: 'Reserved', webhookOrigin: { reserve: true } },
]);
const withAgreement = Object.entries(stacks);

describe.each(withAgreement)('the monitoring dashboard of %s', (_, stack) => {
  const { widgets } = dashboardOf(stack);
  const texts = widgets.map(({ properties }) => properties.markdown ?? '').join('\n');
  const alarms = stack.all('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);

  it('is named after its stack, so that it is unique in the account, and its output links to it', () => {
    expect(stack.only('AWS::CloudWatch::Dashboard')).toMatchObject({
      logicalId: 'MonitoringDashboard',
      Properties: { DashboardName: stack.environment.stackId },
    });
    expect(stack.json.Outputs.MonitoringDashboardUrl.Value).toMatch(
      new RegExp(`^https://${stack.environment.region}\\.console\\..*/${stack.environment.stackId}$`),
    );
  });

  it('starts with the state of every alarm', () => {
    const shown = widgets
      .filter(({ type }) => type === 'alarm')
      .flatMap(({ properties }) => properties.alarms);
    const { region } = stack.environment;
    expect(shown.sort()).toEqual(
      alarms.map(({ AlarmName }) => `arn:aws:cloudwatch:${region}:123456789012:alarm:${AlarmName}`).sort(),
    );
  });

  it("links exactly to the alarms' headings in the runbook", () => {
    const named = Array.from(texts.matchAll(/(?<!\.md)#([a-z][a-z-]+)/g), ([, heading]) => heading);
    const headings = alarms.map(({ AlarmDescription }) => AlarmDescription.split('#')[1]);
    expect([...new Set(named)].sort()).toEqual([...new Set(headings)].sort());
    expect(missingHeadings(texts)).toEqual([]);
  });

  it('shows only existing metrics: of alarms, AWS, log lines and functions', async () => {
    const written = [...metricsOfAlarms(alarms), ...metricsOfLogs(stack), ...(await ofFunctions())];
    const existing = written.map(textOf);
    const unknown = widgets
      .flatMap(metricsOfWidget)
      .filter((metric) => !existing.includes(textOf(metric)))
      .filter(({ namespace, name }) => !documented[namespace]?.includes(name));
    expect(unknown).toEqual([]);
  });

  it('shows no metric per organization, caller or receiver', () => {
    const names = widgets.flatMap(metricsOfWidget).flatMap(({ dimensions }) => dimensions);
    expect(names.filter((name) => !dimensionNames.includes(name.split('=')[0] ?? ''))).toEqual([]);
  });

  it('shows the actual thresholds of alarms', () => {
    const lines = widgets.flatMap(({ properties }) => properties.annotations?.horizontal ?? []);
    const limits = alarms.map(({ Threshold }) => Threshold);
    expect(lines.filter(({ value }) => !limits.includes(value))).toEqual([]);
    expect(lines).toContainEqual(expect.objectContaining({ label: 'api-latency', value: 2_000 }));
    expect(lines).toContainEqual(expect.objectContaining({ label: 'function-errors', value: 3 }));
  });

  it('shows the replication lag of a standby, from its region', () => {
    const { standby } = stack.environment;
    const [replication] = widgets.filter(({ properties }) => properties.title === 'Replication');
    const regions = (replication?.properties.metrics ?? []).flatMap((metric) => metric.at(-1).region ?? []);
    expect(regions).toEqual(standby ? [standby.region] : []);
    const searches = widgets.flatMap(metricsOfWidget).filter(({ name }) => name === 'AuroraGlobalDBRPOLag');
    const dimensions = ['DBClusterIdentifier', 'SourceRegion'];
    expect(searches.map((metric) => metric.dimensions)).toEqual(standby ? [dimensions] : []);
  });
});

const textOf = ({ namespace, name, dimensions }: Metric) => [namespace, name, ...dimensions].join(' ');

const search = /^SEARCH\('\{(?<schema>[^}]+)\} MetricName="(?<name>\w+)"'/;

/** Excludes expressions over other metrics of the widget. */
function metricsOfWidget({ properties }: Widget): Metric[] {
  return (properties.metrics ?? []).flatMap(([first, name, ...rest]) => {
    if (typeof first === 'string') {
      const pairs = rest.filter((each) => typeof each === 'string');
      const dimensions = pairs.flatMap((each, index) => (index % 2 ? [] : [`${each}=${pairs[index + 1]}`]));
      return [{ namespace: first, name, dimensions: dimensions.sort() }];
    }
    if (!first.expression.startsWith('SEARCH')) return [];
    const { schema, name: found } = (search.exec(first.expression)?.groups ?? {}) as Json;
    const [namespace, ...dimensions] = schema.replaceAll('"', '').split(',');
    return [{ namespace, name: found, dimensions }];
  });
}

function metricsOfAlarms(alarms: readonly Json[]): Metric[] {
  const single = alarms.filter(({ MetricName }) => MetricName);
  const within = alarms.flatMap(({ Metrics = [] }) =>
    Metrics.flatMap(({ MetricStat }: Json) => MetricStat?.Metric ?? []),
  );
  return [...single, ...within].map(({ Namespace, MetricName, Dimensions = [] }: Json) => ({
    namespace: Namespace,
    name: MetricName,
    dimensions: Dimensions.map(({ Name, Value }: Json) => `${Name}=${resourceOrText(Value)}`).sort(),
  }));
}

function metricsOfLogs(stack: StackTemplate): Metric[] {
  return stack
    .all('AWS::Logs::MetricFilter')
    .flatMap(({ Properties }) => Properties.MetricTransformations)
    .map(({ MetricNamespace, MetricName, Dimensions = [] }: Json) => ({
      namespace: MetricNamespace,
      name: MetricName,
      dimensions: Dimensions.map(({ Key }: Json) => Key),
    }));
}

const ofFunctions = async (): Promise<Metric[]> =>
  (await metricsOfDelivery()).map(({ Namespace, MetricName, Dimensions }) => ({
    namespace: Namespace,
    name: MetricName,
    dimensions: Object.entries(Dimensions).map(([name, value]) => `${name}=${value}`),
  }));
