import { type Environment, validateEnvironments } from '../../lib/environment';
import { linesOf, linesOfAlarms } from '../support/alarm-table';
import { metricsOfDelivery } from '../support/delivery-metrics';
import { missingHeadings } from '../support/documents';
import { withoutSla, withSla, withStandby } from '../support/rows';
import { type Resource, type StackTemplate, stackOf, synthesizeStacks } from '../support/stacks';
import { synthesizeTemplates } from '../support/state-baseline';

const stacks = synthesizeStacks();
const withAgreement = Object.entries(stacks).filter(
  ([, { environment }]) => environment.serviceLevelAgreement,
);

/** Name, limit in the metric's unit, periods, what silence says, metric: as `linesOfAlarms` has them. */
const whatIsWatched = ({ name, stackId, region }: Environment) => `
  api-errors                         >= 5             1 of 1  notBreaching  IF(requests > 100, 100 * errors / requests, errors)
    requests                                                                Sum of 300 s      AWS/ApiGateway Count                        ApiName=wallet-${name}  Stage={ApiRestApiDeploymentStageapi}
    errors                                                                  Sum of 300 s      AWS/ApiGateway 5XXError                     ApiName=wallet-${name}  Stage={ApiRestApiDeploymentStageapi}
  api-latency                        >= 2000          3 of 3  notBreaching  p99 of 300 s      AWS/ApiGateway Latency                      ApiName=wallet-${name}  Stage={ApiRestApiDeploymentStageapi}
  api-throttling                     >= 100           1 of 1  notBreaching  Sum of 300 s      WalletApi/${stackId} Throttled
  dashboard-errors                   >= 5             1 of 1  notBreaching  Sum of 300 s      AWS/ApiGateway 5XXError                     ApiName=wallet-${name}-dashboard  Stage={DashboardRestApiDeploymentStagedashboard}
  database-capacity                  >= 80            3 of 3  breaching     Maximum of 300 s  AWS/RDS ACUUtilization                      DBClusterIdentifier={DatabaseCluster}
  database-connections               >= 400           3 of 3  notBreaching  Maximum of 300 s  AWS/RDS DatabaseConnections                 DBClusterIdentifier={DatabaseCluster}
  database-replication               >= 1000          3 of 3  breaching     Maximum of 300 s  AWS/RDS AuroraReplicaLag                    DBClusterIdentifier={DatabaseCluster}  Role=READER
  database-storage                   >= 536870912000  1 of 1  notBreaching  Maximum of 300 s  AWS/RDS VolumeBytesUsed                     DBClusterIdentifier={DatabaseCluster}
  dead-letters-deliveries            >= 1             1 of 1  notBreaching  Maximum of 300 s  AWS/SQS ApproximateNumberOfMessagesVisible  QueueName={WebhookDeliveryDeadLetterQueue.QueueName}
  dead-letters-events                >= 1             1 of 1  notBreaching  Maximum of 300 s  AWS/SQS ApproximateNumberOfMessagesVisible  QueueName={WebhookEventsDeadLetterQueue.QueueName}
  deliveries-failing                 >= 1             2 of 2  notBreaching  IF(FILL(failed, 0) >= 20 AND FILL(delivered, 0) < 1, 1, 0)
    failed                                                                  Sum of 900 s      WalletWebhooks Failed                       service=deliver-webhook
    delivered                                                               Sum of 900 s      WalletWebhooks Delivered                    service=deliver-webhook
  egress-drops                       > 0.01           3 of 3  notBreaching  IF(dropped >= 10, 100 * dropped / (outward + inward), 0)
    dropped                                                                 Sum of 300 s      AWS/NATGateway PacketsDropCount             NatGatewayId={WebhookOriginNatGateway.NatGatewayId}
    outward                                                                 Sum of 300 s      AWS/NATGateway PacketsInFromSource          NatGatewayId={WebhookOriginNatGateway.NatGatewayId}
    inward                                                                  Sum of 300 s      AWS/NATGateway PacketsInFromDestination     NatGatewayId={WebhookOriginNatGateway.NatGatewayId}
  egress-ports                       > 0              3 of 3  notBreaching  Maximum of 300 s  AWS/NATGateway ErrorPortAllocation          NatGatewayId={WebhookOriginNatGateway.NatGatewayId}
  firewall-blocks                    >= 500           1 of 1  notBreaching  Sum of 300 s      AWS/WAFV2 BlockedRequests                   Region=${region}  Rule=ALL  WebACL=WebAcl
  function-errors-authorize-request  >= 3             1 of 1  notBreaching  Sum of 900 s      AWS/Lambda Errors                           FunctionName={AuthorizeRequest}
  function-errors-delete-user-group  >= 3             1 of 1  notBreaching  Sum of 900 s      AWS/Lambda Errors                           FunctionName={DeleteUserGroup}
  function-errors-deliver-webhook    >= 3             1 of 1  notBreaching  Sum of 900 s      AWS/Lambda Errors                           FunctionName={WebhooksDeliverWebhook}
  function-errors-fan-out-event      >= 3             1 of 1  notBreaching  Sum of 900 s      AWS/Lambda Errors                           FunctionName={WebhooksFanOutEvent}
  function-errors-purge-expired      >= 1             1 of 1  notBreaching  Sum of 900 s      AWS/Lambda Errors                           FunctionName={WebhooksPurgeExpired}
  function-errors-run-operation      >= 3             1 of 1  notBreaching  Sum of 900 s      AWS/Lambda Errors                           FunctionName={RunOperation}
  function-throttling                >= 1             1 of 1  notBreaching  FILL(m0, 0) + FILL(m1, 0) + FILL(m2, 0) + FILL(m3, 0) + FILL(m4, 0) + FILL(m5, 0)
    m0                                                                      Sum of 300 s      AWS/Lambda Throttles                        FunctionName={AuthorizeRequest}
    m1                                                                      Sum of 300 s      AWS/Lambda Throttles                        FunctionName={DeleteUserGroup}
    m2                                                                      Sum of 300 s      AWS/Lambda Throttles                        FunctionName={RunOperation}
    m3                                                                      Sum of 300 s      AWS/Lambda Throttles                        FunctionName={WebhooksFanOutEvent}
    m4                                                                      Sum of 300 s      AWS/Lambda Throttles                        FunctionName={WebhooksDeliverWebhook}
    m5                                                                      Sum of 300 s      AWS/Lambda Throttles                        FunctionName={WebhooksPurgeExpired}
  oldest-message-deliveries          >= 900           1 of 1  notBreaching  Maximum of 300 s  AWS/SQS ApproximateAgeOfOldestMessage       QueueName={WebhookDeliveryQueue.QueueName}
  oldest-message-events              >= 900           1 of 1  notBreaching  Maximum of 300 s  AWS/SQS ApproximateAgeOfOldestMessage       QueueName={WebhookEventsQueue.QueueName}
  oldest-message-retries             >= 2700          1 of 1  notBreaching  Maximum of 300 s  AWS/SQS ApproximateAgeOfOldestMessage       QueueName={WebhookRetryQueue.QueueName}
  origin-unreachable                 >= 1             2 of 4  notBreaching  IF(received > deleted AND 0 * received + inward + delivered < 1, 1, 0)
    received                                                                Sum of 300 s      AWS/SQS NumberOfMessagesReceived            QueueName={WebhookDeliveryQueue.QueueName}
    deleted                                                                 Sum of 300 s      AWS/SQS NumberOfMessagesDeleted             QueueName={WebhookDeliveryQueue.QueueName}
    inward                                                                  Sum of 300 s      AWS/NATGateway PacketsInFromDestination     NatGatewayId={WebhookOriginNatGateway.NatGatewayId}
    delivered                                                               Sum of 300 s      WalletWebhooks Delivered                    service=deliver-webhook
  webhook-disabled                   >= 1             1 of 1  notBreaching  Sum of 300 s      WalletWebhooks Disabled                     service=deliver-webhook
`;

describe.each(withAgreement)('the alarms of %s', (_, stack) => {
  const alarms = stack.all('AWS::CloudWatch::Alarm');
  const alarm = (name: string) => alarmOf(stack, name);
  /** Without the one of a reserve, which origin-alarms.test.ts has. */
  const usual = alarms.filter(({ Condition }) => Condition !== 'WebhookOriginReserveIsInUse');

  it('watch what was promised, each by its own metric and limit', () => {
    const { environment } = stack;
    expect(linesOfAlarms(environment.stackId, usual)).toEqual(linesOf(whatIsWatched(environment)));
  });

  it('notify the topic when they begin and when they end', () => {
    const topic = { Ref: stack.only('AWS::SNS::Topic').logicalId };
    for (const { Properties } of alarms) {
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([[topic], [topic]]);
    }
    expect(stack.json.Outputs.AlarmTopicArn.Value).toEqual(topic);
  });

  it('count failures by the names that the delivery function gives them', async () => {
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

  it('count refusals in the very log of the stage, whose status is a string', () => {
    const filter = stack.named('AWS::Logs::MetricFilter', 'MonitoringLogMetricsThrottled');
    const { AccessLogSetting } = stageOf(stack).Properties;
    expect(JSON.stringify(AccessLogSetting.DestinationArn)).toContain(
      `"${filter.Properties.LogGroupName.Ref}"`,
    );
    expect(JSON.parse(AccessLogSetting.Format).status).toBe('$context.status');
    expect(filter.Properties.FilterPattern).toBe('{ $.status = "429" }');
    const [{ MetricName, MetricNamespace }] = filter.Properties.MetricTransformations;
    expect(alarm('api-throttling').Properties).toMatchObject({ MetricName, Namespace: MetricNamespace });
  });

  it('name the firewall as its metrics do', () => {
    const { VisibilityConfig } = stack.named('AWS::WAFv2::WebACL', 'ApiWebAcl').Properties;
    expect(
      Object.fromEntries(alarm('firewall-blocks').Properties.Dimensions.map(nameAndValue)),
    ).toMatchObject({
      WebACL: VisibilityConfig.MetricName,
    });
  });

  it('watch the gateway of the webhook origin only while there is one', () => {
    for (const { Properties, Condition } of usual)
      expect(Condition).toBe(
        JSON.stringify(Properties).includes('WebhookOriginNatGateway')
          ? 'WebhookOriginIsAttached'
          : undefined,
      );
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
    const { stackId } = withStandby.standby;
    const { Resources, Outputs } = synthesizeTemplates([withStandby])[stackId];
    const alarms = (Object.values(Resources) as Resource[]).filter(
      ({ Type }) => Type === 'AWS::CloudWatch::Alarm',
    );
    expect(linesOfAlarms(stackId, alarms)).toEqual(
      linesOf(`
        standby-replication  >= 30000  3 of 3  breaching  Maximum of 300 s  AWS/RDS AuroraGlobalDBRPOLag  DBClusterIdentifier={DatabaseCluster}  SourceRegion=${withStandby.region}
      `),
    );
    expect(alarms[0]?.Properties.AlarmActions).toEqual([Outputs.AlarmTopicArn.Value]);
  });

  it('are there for the agreement, whatever the environment is called', () => {
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
  const told = stackOf({ ...withSla, alarmEmail: 'on-call@example.com' });

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

  it('notifies the address of the row only', () => {
    const topic = { Ref: told.only('AWS::SNS::Topic').logicalId };
    expect(told.only('AWS::SNS::Subscription').Properties).toEqual({
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
      TopicArn: topic,
    });
    for (const stack of Object.values(stacks))
      expect(stack.all('AWS::SNS::Subscription')).toHaveLength(stack.environment.alarmEmail ? 1 : 0);
  });

  it('has nothing to tell without an agreement', () => {
    const row = { ...withoutSla, alarmEmail: 'on-call@example.com' };
    expect(() => validateEnvironments([row])).toThrow(/\.alarmEmail is .*there are no alarms/);
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
const hasMetricStat = ({ MetricStat }: { readonly MetricStat?: unknown }) => MetricStat !== undefined;
const nameAndValue = ({ Name, Value }: { readonly Name: string; readonly Value: unknown }) => [Name, Value];
