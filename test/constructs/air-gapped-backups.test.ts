import { textOf } from '../support/region-api';
import { withOtherOptions, withSla } from '../support/rows';
import { stackOf } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

const stack = stackOf(withSla);
const vault = { 'Fn::GetAtt': ['AirGappedVault', 'BackupVaultArn'] };
const cluster = {
  'Fn::Join': expect.arrayContaining([expect.arrayContaining([{ Ref: 'DatabaseCluster' }])]),
};
const [, roleId = ''] = stack.only('AWS::Backup::BackupSelection').DependsOn ?? [];
const role = { 'Fn::GetAtt': [roleId, 'Arn'] };

it('the vault has one retention, named after it and the stack, and the key of AWS', () => {
  const { name } = withOtherOptions;
  const { Properties } = stackOf(withOtherOptions).only('AWS::Backup::LogicallyAirGappedBackupVault');
  expect(Properties).toEqual({
    BackupVaultName: { 'Fn::Join': ['', [`wallet-${name}-`, expect.anything(), '-60-days']] },
    BackupVaultTags: expect.anything(),
    ...{ MinRetentionDays: 60, MaxRetentionDays: 60 },
  });
});

it('backs the cluster up into it, without continuous backups or copies, for as long as it keeps them', () => {
  const [rule] = stack.only('AWS::Backup::BackupPlan').Properties.BackupPlan.BackupPlanRule;
  expect(rule).toEqual({
    RuleName: 'daily',
    ScheduleExpression: 'cron(0 1 ? * * *)',
    StartWindowMinutes: 60,
    Lifecycle: { DeleteAfterDays: 35 },
    TargetBackupVault: { Ref: stack.only('AWS::Backup::BackupVault').logicalId },
    TargetLogicallyAirGappedBackupVaultArn: vault,
  });
  // A selection is replaced with the cluster.
  expect(stack.only('AWS::Backup::BackupSelection').Properties.BackupSelection).toEqual({
    SelectionName: { Ref: 'DatabaseCluster' },
    Resources: [cluster],
    IamRoleArn: role,
  });
});

it('restores from it, into the isolated subnets and a group without rules', () => {
  const { Properties: plan, logicalId } = stack.only('AWS::Backup::RestoreTestingPlan');
  expect(plan.RecoveryPointSelection.IncludeVaults).toEqual([vault]);
  const { Properties } = stack.only('AWS::Backup::RestoreTestingSelection');
  const { vpcSecurityGroupIds, ...overrides } = Properties.RestoreMetadataOverrides;
  expect({ ...Properties, RestoreMetadataOverrides: overrides }).toEqual({
    RestoreTestingPlanName: { Ref: logicalId },
    RestoreTestingSelectionName: 'cluster',
    ProtectedResourceType: 'Aurora',
    ProtectedResourceArns: [cluster],
    IamRoleArn: role,
    RestoreMetadataOverrides: {
      dbSubnetGroupName: { Ref: 'DatabaseSubnets' },
      kmsKeyId: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
    },
  });
  const [, group = ''] = /^\["\{(\w+)\.GroupId\}"\]$/.exec(textOf(vpcSecurityGroupIds)) ?? [];
  const { SecurityGroupEgress, SecurityGroupIngress = [] } = stack.get(group).Properties;
  expect([SecurityGroupIngress, SecurityGroupEgress]).toMatchObject([[], [{ CidrIp: '127.0.0.1/32' }]]);
  expect(JSON.stringify(stack.all('AWS::EC2::SecurityGroupIngress'))).not.toContain(group);
});

it('its role is for AWS Backup, and deletes, shares and copies only what AWS Backup made', () => {
  expect(stack.get(roleId).Properties.AssumeRolePolicyDocument.Statement).toEqual([
    { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'backup.amazonaws.com' } },
  ]);
  const [policy] = stack
    .all('AWS::IAM::Policy')
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: Json) => Ref === roleId));
  const statements: readonly Json[] = policy?.Properties.PolicyDocument.Statement;
  const resourcesFor = (action: string) =>
    statements
      .filter(({ Action }) => [Action].flat().includes(action))
      .map(({ Resource }) => [Resource].flat().map(textOf).join(' '));
  const snapshots = [expect.stringContaining(':cluster-snapshot:awsbackup:*')];
  expect(resourcesFor('rds:DeleteDBClusterSnapshot')).toEqual(snapshots);
  expect(resourcesFor('rds:ModifyDBClusterSnapshotAttribute')).toEqual(snapshots);
  const drills = [expect.stringContaining(':cluster:awsbackup-restore-test*')];
  expect(resourcesFor('rds:DeleteDBCluster')).toEqual(drills);
  // The API has no resources.
  const everywhere = statements.filter(({ Resource }) => Resource === '*');
  expect(everywhere.map(({ Action }) => Action)).toEqual(['tag:GetResources']);
});
