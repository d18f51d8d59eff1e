import { metricsOfDelivery } from '../support/delivery-metrics';
import { missingHeadings } from '../support/documents';
import { withoutSla, withSla, withStandby } from '../support/rows';
import { type Resource, type StackTemplate, stackOf, synthesizeStacks } from '../support/stacks';
import { synthesizeTemplates } from '../support/state-baseline';

const stacks = synthesizeStacks();
const withAgreement = Object.entries(stacks).filter(
  ([, { environment }]) => environment.serviceLevelAgreement,
);

describe.each(withAgreement)('the alarms of %s', (_, stack) => {
  const alarms = stack.all('AWS::CloudWatch::Alarm');
  const alarm = (name: string) => alarmOf(stack, name);
  /** Without that of the reserve: see origin-alarms.test.ts. */
  const usual = alarms.filter(({ Condition }) => Condition !== 'WebhookOriginReserveIsInUse');

  it('treat missing data as breaching for metrics that always report', () => {
    const breaching = usual.filter(({ Properties }) => Properties.TreatMissingData === 'breaching');
    expect(breaching.map(({ Properties }) => Properties.AlarmName.replace(/^[^-]+-/, '')).sort()).toEqual([
      'database-capacity',
      'database-replication',
    ]);
  });

  it('notify the topic on ALARM and on OK', () => {
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    for (const { Properties } of alarms) {
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([[topic], [topic]]);
    }
    expect(stack.json.Outputs.AlarmTopicArn.Value).toEqual(topic);
  });

  it("count failures by the delivery function's metric names", async () => {
    const written = await metricsOfDelivery();
    const counts = alarm('deliveries-failing').Properties.Metrics.filter(hasMetricStat);
    const metrics = counts.map(({ MetricStat }: { MetricStat: { Metric: unknown } }) => MetricStat.Metric);
    for (const { Namespace, MetricName, Dimensions } of [...metrics, alarm('webhook-disabled').Properties]) {
      expect(written).toContainEqual({
        Namespace,
        MetricName,
        Dimensions: Object.fromEntries(Dimensions.map(nameAndValue)),
      });
    }
  });

  it('count throttled requests by the log metric', () => {
    const filter = stack.named('AWS::Logs::MetricFilter', 'MonitoringLogMetricsThrottled');
    const [{ MetricName, MetricNamespace }] = filter.Properties.MetricTransformations;
    expect(alarm('api-throttling').Properties).toMatchObject({ MetricName, Namespace: MetricNamespace });
  });

  it('watch the gateway of the webhook origin only while it exists', () => {
    for (const { Properties, Condition } of usual)
      expect(Condition).toBe(
        JSON.stringify(Properties).includes('WebhookOriginNatGateway')
          ? 'WebhookOriginIsAttached'
          : undefined,
      );
  });

  it('fire well below the connection limit of PostgreSQL', () => {
    expect(alarm('database-connections').Properties.Threshold).toBeLessThan(
      0.8 * (connectionLimits[stack.environment.database.capacity.maximum] ?? 0),
    );
  });
});

/**
 * PostgreSQL's `max_connections` by the highest capacity.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
 */
const connectionLimits: Readonly<Record<number, number>> = { 4: 823, 8: 1669, 16: 3360, 32: 5000, 64: 5000 };

describe('alarms', () => {
  const templates = synthesizeTemplates();
  const everyAlarm: Resource[] = Object.values(templates)
    .flatMap(({ Resources }) => Object.values(Resources) as Resource[])
    .filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');

  it('name a heading of the runbook', () => {
    const descriptions = everyAlarm.map(({ Properties }) => Properties.AlarmDescription as string);
    expect(descriptions.filter((text) => !/\. Runbook: docs\/runbook\.md#[a-z-]+$/.test(text))).toEqual([]);
    expect(descriptions.flatMap(missingHeadings)).toEqual([]);
  });

  it("watch the standby's replication lag, in its region", () => {
    const { stackId } = withStandby.standby;
    const { Resources, Outputs } = synthesizeTemplates([withStandby])[stackId];
    const alarms = (Object.values(Resources) as Resource[]).filter(
      ({ Type }) => Type === 'AWS::CloudWatch::Alarm',
    );
    expect(alarms.map(({ Properties }) => Properties)).toMatchObject([
      {
        AlarmName: `${stackId}-standby-replication`,
        MetricName: 'AuroraGlobalDBRPOLag',
        Dimensions: [
          { Name: 'DBClusterIdentifier', Value: { Ref: 'DatabaseCluster' } },
          { Name: 'SourceRegion', Value: withStandby.region },
        ],
        TreatMissingData: 'breaching',
      },
    ]);
    expect(alarms[0]?.Properties.AlarmActions).toEqual([Outputs.AlarmTopicArn.Value]);
  });

  it('exist only with a service level agreement', () => {
    const { database } = withoutSla;
    const promised = { ...withoutSla, serviceLevelAgreement: true, database: { ...database, readers: 2 } };
    expect(alarmOf(stackOf(promised), 'database-replication')).toBeDefined();
    for (const row of [{ ...withSla, serviceLevelAgreement: false }, withoutSla]) {
      const without = stackOf(row);
      expect(without.all('AWS::CloudWatch::Alarm')).toEqual([]);
      expect(without.all('AWS::SNS::Topic')).toEqual([]);
      expect(without.json.Outputs.AlarmTopicArn).toBeUndefined();
    }
  });
});

describe('the topic', () => {
  const stack = stackOf({ ...withSla, alarmEmail: 'on-call@example.com' });

  it('is encrypted with a key that CloudWatch may use for this account only', () => {
    const { Properties } = stack.only('AWS::SNS::Topic');
    expect(Properties.KmsMasterKeyId).toEqual({ 'Fn::GetAtt': ['OperationsKey', 'Arn'] });
    expect(stack.get('OperationsKey').Properties.KeyPolicy.Statement).toContainEqual({
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Resource: '*',
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
  });

  it('notifies only the address of the row', () => {
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    expect(stack.only('AWS::SNS::Subscription').Properties).toEqual({
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
      TopicArn: topic,
    });
    for (const other of Object.values(stacks))
      expect(other.all('AWS::SNS::Subscription')).toHaveLength(other.environment.alarmEmail ? 1 : 0);
  });
});

function alarmOf(stack: StackTemplate, name: string): Resource {
  const alarm = stack
    .all('AWS::CloudWatch::Alarm')
    .find(({ Properties }) => Properties.AlarmName === `${stack.environment.stackId}-${name}`);
  if (alarm === undefined) throw new Error(`No alarm ${name}`);
  return alarm;
}

const hasMetricStat = ({ MetricStat }: { readonly MetricStat?: unknown }) => MetricStat !== undefined;
const nameAndValue = ({ Name, Value }: { readonly Name: string; readonly Value: unknown }) => [Name, Value];
