import { validateEnvironment } from '../../lib/environments/validation';
import { metricsOfDelivery } from '../support/delivery-metrics';
import { missingHeadings } from '../support/runbook';
import { environmentLike, type Resource, type StackTemplate, synthesizeStacks } from '../support/stacks';
import { synthesizeTemplates } from '../support/state-baseline';

const stacks = synthesizeStacks();
const withAgreement = Object.entries(stacks).filter(
  ([, { environment }]) => environment.serviceLevelAgreement,
);

const expected = [
  'api-errors',
  'api-latency',
  'api-throttling',
  'dashboard-errors',
  'database-capacity',
  'database-connections',
  'database-replication-1',
  'database-storage',
  'dead-letters-deliveries',
  'dead-letters-events',
  'deliveries-failing',
  'egress-connections',
  'egress-drops',
  'egress-ports',
  'firewall-blocks',
  'function-errors-authorize-request',
  'function-errors-delete-user-group',
  'function-errors-deliver-webhook',
  'function-errors-fan-out-event',
  'function-errors-purge-expired',
  'function-errors-run-operation',
  'function-throttling',
  'oldest-message-deliveries',
  'oldest-message-events',
];

describe.each(withAgreement)('the alarms of %s', (_, stack) => {
  const alarms = stack.all('AWS::CloudWatch::Alarm');
  const alarm = (name: string) => alarmOf(stack, name);

  it('watch what was promised', () => {
    const prefix = `${stack.environment.stackId}-`;
    expect(alarms.map(({ Properties }) => Properties.AlarmName.slice(prefix.length)).sort()).toEqual(
      expected,
    );
  });

  it('decide what silence means, and tell of the beginning and of the end', () => {
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    for (const { Properties } of alarms) {
      expect(Properties.TreatMissingData).toMatch(/^(notBreaching|breaching)$/);
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([[topic], [topic]]);
    }
    expect(stack.json.Outputs.AlarmTopicArn.Value).toEqual(topic);
  });

  it('are raised by a database that reports nothing', () => {
    for (const name of ['database-capacity', 'database-replication-1'])
      expect(alarm(name).Properties.TreatMissingData).toBe('breaching');
  });

  it('count failures by the names that the delivery function gives them', () => {
    const written = metricsOfDelivery();
    for (const { MetricStat } of alarm('deliveries-failing').Properties.Metrics.filter(hasMetricStat)) {
      const { Namespace, MetricName, Dimensions } = MetricStat.Metric;
      expect(written).toContainEqual({
        Namespace,
        MetricName,
        Dimensions: Object.fromEntries(Dimensions.map(nameAndValue)),
      });
    }
  });

  it('count refusals in the very log of the stage, whose status is a string', () => {
    const filter = stack.only('AWS::Logs::MetricFilter');
    const { AccessLogSetting } = stageOf(stack).Properties;
    expect(JSON.stringify(AccessLogSetting.DestinationArn)).toContain(
      `"${filter.Properties.LogGroupName.Ref}"`,
    );
    expect(JSON.parse(AccessLogSetting.Format).status).toBe('$context.status');
    expect(filter.Properties.FilterPattern).toBe('{ $.status = "429" }');
    const [{ MetricName, MetricNamespace }] = filter.Properties.MetricTransformations;
    expect(alarm('api-throttling').Properties).toMatchObject({ MetricName, Namespace: MetricNamespace });
  });

  it('name the stage and the firewall as their metrics do', () => {
    const api = Object.fromEntries(alarm('api-latency').Properties.Dimensions.map(nameAndValue));
    expect(api).toEqual({
      ApiName: `wallet-${stack.environment.name}`,
      Stage: { Ref: stageOf(stack).logicalId },
    });
    const firewall = Object.fromEntries(alarm('firewall-blocks').Properties.Dimensions.map(nameAndValue));
    expect(firewall).toEqual({
      WebACL: firewallsOf(stack).find(({ logicalId }) => logicalId.startsWith('ApiWebAcl'))?.Properties
        .VisibilityConfig.MetricName,
      Region: stack.environment.region,
      Rule: 'ALL',
    });
  });

  it('watch the gateway of the webhook origin only while there is one', () => {
    for (const { Properties, Condition } of alarms)
      expect(Condition).toBe(/-egress-/.test(Properties.AlarmName) ? 'WebhookOriginIsAttached' : undefined);
  });

  it('are raised by connections long before PostgreSQL refuses them', () => {
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

  it('watch how far the standby is behind, in its own region', () => {
    const { Resources, Outputs } = templates.WalletEuStandby;
    const alarms = (Object.values(Resources) as Resource[]).filter(
      ({ Type }) => Type === 'AWS::CloudWatch::Alarm',
    );
    expect(alarms.map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        AlarmName: 'WalletEuStandby-standby-replication',
        MetricName: 'AuroraGlobalDBReplicationLag',
        Dimensions: [
          { Name: 'DBClusterIdentifier', Value: { Ref: 'DatabaseCluster' } },
          { Name: 'SourceRegion', Value: 'eu-central-1' },
        ],
        AlarmActions: [Outputs.AlarmTopicArn.Value],
      }),
    ]);
  });

  it('are there for the agreement, whatever the environment is called', () => {
    const { staging, uae } = synthesizeStacks([
      environmentLike('staging', {
        serviceLevelAgreement: true,
        database: { ...environmentLike('staging').database, readers: 2 },
      }),
      environmentLike('uae', { serviceLevelAgreement: false }),
    ]);
    expect(staging && alarmOf(staging, 'database-replication-2')).toBeDefined();
    for (const without of [uae, stacks.staging]) {
      expect(without?.all('AWS::CloudWatch::Alarm')).toEqual([]);
      expect(without?.all('AWS::SNS::Topic')).toEqual([]);
      expect(without?.json.Outputs.AlarmTopicArn).toBeUndefined();
    }
  });
});

describe('the topic', () => {
  const told = synthesizeStacks([environmentLike('uae', { alarmEmail: 'on-call@example.com' })])
    .uae as StackTemplate;

  it('is encrypted with a key that CloudWatch may use for this account alone', () => {
    const { Properties } = told.only('AWS::SNS::Topic');
    expect(Properties.KmsMasterKeyId).toEqual({ 'Fn::GetAtt': ['OperationsKey', 'Arn'] });
    expect(told.get('OperationsKey').Properties.KeyPolicy.Statement).toContainEqual({
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Resource: '*',
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
  });

  it('takes alarms of this account, over TLS', () => {
    const { Statement } = told.only('AWS::SNS::TopicPolicy').Properties.PolicyDocument;
    const condition = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
    expect(Statement).toContainEqual(
      expect.objectContaining({ Effect: 'Allow', Action: 'sns:Publish', Condition: condition }),
    );
    expect(Statement).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
  });

  it('tells whom the table names, and nobody else', () => {
    const topic = { Ref: told.only('AWS::SNS::Topic').logicalId };
    expect(told.only('AWS::SNS::Subscription').Properties).toEqual({
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
      TopicArn: topic,
    });
    for (const stack of Object.values(stacks)) expect(stack.all('AWS::SNS::Subscription')).toEqual([]);
  });

  it('has nothing to tell without an agreement', () => {
    const row = environmentLike('staging', { alarmEmail: 'on-call@example.com' });
    expect(() => validateEnvironment(row)).toThrow(/staging\.alarmEmail is .*there are no alarms/);
  });
});

function alarmOf(stack: StackTemplate, name: string): Resource {
  const alarm = stack
    .all('AWS::CloudWatch::Alarm')
    .find(({ Properties }) => Properties.AlarmName === `${stack.environment.stackId}-${name}`);
  if (alarm === undefined) throw new Error(`No alarm ${name}`);
  return alarm;
}

const stageOf = (stack: StackTemplate) => stack.named('AWS::ApiGateway::Stage', 'ApiRestApi');
const firewallsOf = (stack: StackTemplate) => stack.all('AWS::WAFv2::WebACL');
const hasMetricStat = ({ MetricStat }: { readonly MetricStat?: unknown }) => MetricStat !== undefined;
const nameAndValue = ({ Name, Value }: { readonly Name: string; readonly Value: unknown }) => [Name, Value];
