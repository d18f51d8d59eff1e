import { isDeepStrictEqual } from 'node:util';
import { promoted, withStandby as row, withEveryOption } from '../support/rows';
import { type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';

const { standby } = row;
const stacks = synthesizeEveryStack([row]);
const [serving, stack] = [stacks[row.stackId], stacks[standby.stackId]] as [StackTemplate, StackTemplate];
const cluster = stack.only('AWS::RDS::DBCluster');
const complete = withEveryOption(row);
const before = synthesizeEveryStack([complete]);
const prepared = before[standby.stackId] as StackTemplate;
const serves = stackOf(promoted(complete));
const primary = serving.only('AWS::RDS::DBCluster').Properties;

describe('the standby', () => {
  it('is a secondary of the global database whose primary is the serving cluster', () => {
    const { globalClusterIdentifier: GlobalClusterIdentifier } = standby;
    const { Properties } = serving.only('AWS::RDS::GlobalCluster');
    const arn = JSON.stringify(Properties.SourceDBClusterIdentifier);
    expect(arn).toContain(':cluster:",{"Ref":"DatabaseCluster"}');
    expect(Properties).toMatchObject({ GlobalClusterIdentifier, DeletionProtection: true });
    expect(cluster.Properties).toMatchObject({ GlobalClusterIdentifier, EnableGlobalWriteForwarding: false });
    // The replica needs its primary.
    expect(stack.manifest.dependencies).toContain(row.stackId);
  });

  it('has no instance, no serving resource, and no route to or from the internet', () => {
    const types = stack.resources.map(({ Type }) => Type);
    const others = types.filter((type) => !/^AWS::(EC2|RDS|KMS|IAM|Logs|SNS|CloudWatch)::/.test(type));
    expect(others.sort()).toEqual(['AWS::Lambda::Function', 'Custom::VpcRestrictDefaultSG']);
    expect(types).not.toContain('AWS::RDS::DBInstance');
    expect(types.filter((type) => /EIP|Gateway|Route$|Endpoint|Ingress/.test(type))).toEqual([]);
  });
});

describe('promotion', () => {
  it('updates the cluster in place, and replaces or removes nothing', () => {
    const changes = prepared.resources
      .filter(({ Type }) => Type !== 'AWS::CloudWatch::Alarm')
      .flatMap((before) => {
        const after = serves.get(before.logicalId);
        expect(after.Type).toBe(before.Type);
        return Object.keys({ ...before.Properties, ...after.Properties })
          .filter((name) => !isDeepStrictEqual(before.Properties?.[name], after.Properties?.[name]))
          .map((name) => `${before.logicalId}.${name}`);
      });
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
    expect(changes.sort()).toEqual([
      'DatabaseCluster.DeletionProtection',
      'DatabaseCluster.EnableGlobalWriteForwarding',
      'DatabaseCluster.EnableHttpEndpoint',
      'DatabaseCluster.EnableIAMDatabaseAuthentication',
      'DatabaseCluster.MasterUserPassword',
      'DatabaseCluster.PerformanceInsightsEnabled',
      'DatabaseCluster.PerformanceInsightsKmsKeyId',
      'DatabaseCluster.PerformanceInsightsRetentionPeriod',
    ]);
  });

  it('adds all resources of a serving region, and keeps the replicated owner', () => {
    // Without a standby of its own, it has no global database of its own, and no alarm on the replication.
    const typesOf = (each: StackTemplate) =>
      each.resources
        .filter(({ logicalId }) => !/^DatabaseGlobalCluster$|databasereplication/.test(logicalId))
        .map(({ Type }) => Type)
        .sort();
    expect(typesOf(serves)).toEqual(typesOf(before[row.stackId] as StackTemplate));
    const { GenerateSecretString } = serves.get('DatabaseMasterSecret').Properties;
    expect(JSON.parse(GenerateSecretString.SecretStringTemplate)).toEqual({
      username: primary.MasterUsername,
    });
  });
});
