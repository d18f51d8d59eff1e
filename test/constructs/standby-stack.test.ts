import { isDeepStrictEqual } from 'node:util';
import type { Stack } from 'aws-cdk-lib';
import { rulePacks } from '../../lib/checks/rule-packs';
import type { Environment, Standby } from '../../lib/environment';
import { StandbyStack } from '../../lib/stacks/standby-stack';
import { promoted, withStandby as row } from '../support/rows';
import { type StackTemplate, synthesizeEveryStack, withApp } from '../support/stacks';
import { lossesOf, stateOf } from '../support/state-baseline';

const { standby } = row;

/** The stacks of an environment, by name. */
function stacksOf(environment: Environment): (stackId: string) => StackTemplate {
  const stacks = synthesizeEveryStack([environment]);
  return (stackId) => stacks[stackId] as StackTemplate;
}
const withStandby = (changes: Partial<Standby>): Environment => ({
  ...row,
  standby: { ...standby, ...changes },
});

const [serving, stack] = [row.stackId, standby.stackId].map(stacksOf(row)) as [StackTemplate, StackTemplate];
const cluster = stack.only('AWS::RDS::DBCluster');

describe('the standby', () => {
  it('is a secondary of the global database whose primary is the cluster that serves', () => {
    const { globalClusterIdentifier: GlobalClusterIdentifier } = standby;
    const { Properties } = serving.only('AWS::RDS::GlobalCluster');
    expect(JSON.stringify(Properties.SourceDBClusterIdentifier)).toContain(
      ':cluster:",{"Ref":"DatabaseCluster"}',
    );
    expect(Properties).toMatchObject({ GlobalClusterIdentifier, DeletionProtection: true });
    expect(cluster.Properties.GlobalClusterIdentifier).toBe(GlobalClusterIdentifier);
    expect(cluster.Properties.EnableGlobalWriteForwarding).toBe(false);
  });

  it('has the engine, the port and the parameters of the primary, without an owner or a database', () => {
    const primary = serving.only('AWS::RDS::DBCluster');
    for (const name of ['Engine', 'EngineVersion', 'Port', 'ServerlessV2ScalingConfiguration'])
      expect(cluster.Properties[name]).toEqual(primary.Properties[name]);
    expect(stack.only('AWS::RDS::DBClusterParameterGroup').Properties).toEqual(
      serving.only('AWS::RDS::DBClusterParameterGroup').Properties,
    );
    for (const name of ['MasterUsername', 'MasterUserPassword', 'DatabaseName'])
      expect(cluster.Properties).not.toHaveProperty(name);
  });

  it('is encrypted with a key of its region', () => {
    expect(cluster.Properties).toMatchObject({
      StorageEncrypted: true,
      KmsKeyId: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
    });
    for (const { Properties } of stack.all('AWS::KMS::Key')) expect(Properties.EnableKeyRotation).toBe(true);
  });

  it('has no instance, no way out, nothing public, and nothing that serves', () => {
    const types = new Set(stack.resources.map(({ Type }) => Type));
    expect([...types].filter((type) => !standingBy.has(type))).toEqual([]);
    const functions = stack.all('AWS::Lambda::Function').map(({ logicalId }) => logicalId);
    expect(functions).toEqual([expect.stringMatching(/^CustomVpcRestrictDefaultSG/)]);
    expect(Object.keys(stack.json.Outputs).sort()).toEqual([
      'AlarmTopicArn',
      'DatabaseClusterArn',
      'GlobalClusterIdentifier',
    ]);
  });

  it('has isolated subnets in three zones, where a region that serves has them', () => {
    const subnets = stack.all('AWS::EC2::Subnet');
    expect(subnets).toHaveLength(3);
    const cidrsOf = (each: StackTemplate) =>
      subnets.map(({ logicalId }) => each.get(logicalId).Properties.CidrBlock.replace(/^10\.\d+/, ''));
    expect(cidrsOf(stack)).toEqual(cidrsOf(serving));
    expect(stack.only('AWS::EC2::VPC').Properties.CidrBlock).toBe(standby.vpcCidr);
  });

  it('shares nothing with the stack that serves', () => {
    // The dashboard says in which regions the data is, the monitoring dashboard reads the standby's metrics in its region.
    const mentions = serving.resources.filter((each) =>
      [standby.region, standby.stackId].some((text) => JSON.stringify(each).includes(text)),
    );
    expect(mentions.map(({ logicalId }) => logicalId)).toEqual([
      expect.stringMatching(/^DashboardServeDashboard/),
      'MonitoringDashboard',
    ]);
    // Only the alarm's metric, whose dimension it is.
    const namesPrimary = stack.resources.filter((each) => JSON.stringify(each).includes(row.region));
    expect(namesPrimary.map(({ Type }) => Type)).toEqual(['AWS::CloudWatch::Alarm']);
    const another = withStandby({ stackId: 'Elsewhere', vpcCidr: '10.99.0.0/16', instances: 1 });
    expect(stacksOf(another)(row.stackId).text === serving.text).toBe(true);
  });

  it('is deployed after the stack that serves', () => {
    withApp(
      (app) => {
        const [first, second] = app.node.children as [Stack, Stack];
        expect([first.stackName, second.stackName]).toEqual([row.stackId, standby.stackId]);
        expect(second.dependencies).toEqual([first]);
        expect(first.dependencies).toEqual([]);
      },
      { environments: [row], validateTemplates: false },
    );
  });

  it('goes when its stack is deleted, but for its keys, once its protection is taken off', () => {
    expect(cluster).toMatchObject({ DeletionPolicy: 'Delete', Properties: { DeletionProtection: true } });
    const kept = stack.resources.filter(({ DeletionPolicy }) => DeletionPolicy === 'RetainExceptOnCreate');
    expect(kept.map(({ Type }) => Type)).toEqual(['AWS::KMS::Key', 'AWS::KMS::Key']);
  });

  it('says whose it is', () => {
    expect(stack.json.Description).toContain(`standby of ${row.purpose}`);
    expect(cluster.Properties.Tags).toContainEqual({ Key: 'environment', Value: row.name });
  });
});

/** What a region has that only stands by. */
const standingBy = new Set([
  'AWS::CloudWatch::Alarm',
  'AWS::EC2::FlowLog',
  'AWS::EC2::RouteTable',
  'AWS::EC2::SecurityGroup',
  'AWS::EC2::Subnet',
  'AWS::EC2::SubnetRouteTableAssociation',
  'AWS::EC2::VPC',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::KMS::Key',
  'AWS::Lambda::Function',
  'AWS::Logs::LogGroup',
  'AWS::RDS::DBCluster',
  'AWS::RDS::DBClusterParameterGroup',
  'AWS::RDS::DBSubnetGroup',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'Custom::VpcRestrictDefaultSG',
]);

describe('promotion', () => {
  const staffed = stacksOf(withStandby({ instances: 2 }))(standby.stackId);
  const serves = stacksOf(promoted(row))(standby.stackId);

  it('begins with instances in different zones, which the rule packs have nothing against', () => {
    const zones = staffed.all('AWS::RDS::DBInstance').map(({ Properties }) => Properties.AvailabilityZone);
    expect(zones).toEqual(standby.zones.slice(0, 2));
    const findings = withApp((app) => {
      new StandbyStack(app, { environment: row, standby: { ...standby, instances: 2 } });
      app.synth();
      return rulePacks(app).flatMap((pack) => pack.validateScope(app).violations);
    });
    expect(findings).toEqual([]);
  });

  it('makes a region that serves of the standby, by an update that replaces and removes nothing', () => {
    const kept = staffed.resources.filter(({ Type }) => Type !== 'AWS::CloudWatch::Alarm');
    const changes = kept.flatMap((before) => {
      const after = serves.get(before.logicalId);
      expect(after.Type).toBe(before.Type);
      const names = Object.keys({ ...before.Properties, ...after.Properties });
      return names
        .filter((name) => !isDeepStrictEqual(before.Properties?.[name], after.Properties?.[name]))
        .map((name) => `${before.logicalId}.${name}`);
    });
    expect(changes.sort()).toEqual(inPlace);
    expect(lossesOf(stateOf(staffed.json), serves.json).filter((loss) => !/is new/.test(loss))).toEqual([]);
  });

  it('gives it everything that a region that serves has, with its own address', () => {
    const { standby: _, ...alone } = row;
    const types = (each: StackTemplate) => each.resources.map(({ Type }) => Type).sort();
    expect(types(serves)).toEqual(types(stacksOf(alone)(row.stackId)));
    expect(serves.get('WebhookOriginElasticIp').Type).toBe('AWS::EC2::EIP');
  });

  it('keeps the cluster in the global database, with the owner and the database that came with the data', () => {
    const { Properties } = serves.only('AWS::RDS::DBCluster');
    expect(Properties.GlobalClusterIdentifier).toBe(standby.globalClusterIdentifier);
    expect(Properties).not.toHaveProperty('MasterUsername');
    expect(Properties).not.toHaveProperty('DatabaseName');
    const { GenerateSecretString } = serves.get('DatabaseMasterSecret').Properties;
    const { MasterUsername } = serving.only('AWS::RDS::DBCluster').Properties;
    expect(JSON.parse(GenerateSecretString.SecretStringTemplate)).toEqual({ username: MasterUsername });
  });
});

/**
 * Properties that CloudFormation changes without replacement:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
 */
const inPlace = [
  'DatabaseCluster.EnableGlobalWriteForwarding',
  'DatabaseCluster.EnableHttpEndpoint',
  'DatabaseCluster.EnableIAMDatabaseAuthentication',
  'DatabaseCluster.MasterUserPassword',
  'DatabaseCluster.PerformanceInsightsEnabled',
  'DatabaseCluster.PerformanceInsightsKmsKeyId',
  'DatabaseCluster.PerformanceInsightsRetentionPeriod',
];
