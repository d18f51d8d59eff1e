import aws from '../guardrails/aws.json';
import { textOf } from '../support/region-api';
import { withOtherOptions, withSla } from '../support/rows';
import { type Json, stackOf } from '../support/stacks';
import { readActions } from './documented-permissions';

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
    MinRetentionDays: 60,
    MaxRetentionDays: 60,
  });
});

it('backs the cluster up into it, without continuous backups or copies, for as long as it keeps them', () => {
  const [rule] = stack.only('AWS::Backup::BackupPlan').Properties.BackupPlan.BackupPlanRule;
  expect(rule).toMatchObject({
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

it('restores the latest from it, into the isolated subnets and a group without rules', () => {
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

const [policy] = stack
  .all('AWS::IAM::Policy')
  .filter(({ Properties }) => Properties.Roles.some(({ Ref }: Json) => Ref === roleId));
const statements: readonly Json[] = policy?.Properties.PolicyDocument.Statement;

/** What the role leaves out of AWS's policies for AWS Backup. */
const leftOut = {
  'for instances of RDS, not for clusters of Aurora, which AWS Backup restores without instances':
    'rds:CopyDBSnapshot CreateDBInstance CreateDBSnapshot CreateTenantDatabase DeleteDBInstance DeleteDBInstanceAutomatedBackup DeleteDBSnapshot DeleteTenantDatabase DescribeDBSnapshots ModifyDBInstance ModifyDBSnapshotAttribute RestoreDBInstanceFromDBSnapshot RestoreDBInstanceToPointInTime',
  'for continuous backups, which the plan does not make':
    'rds:DeleteDBClusterAutomatedBackup ModifyDBCluster RestoreDBClusterToPointInTime',
  'for restores that consist of others, as of EKS':
    'backup:DescribeRestoreJob ListRecoveryPointsByBackupVault ListRestoreJobs StartRestoreJob',
};

it("its role has every RDS, Backup and KMS action of AWS's policies, but for those with a reason", () => {
  const own = new Set(statements.flatMap(({ Action }) => Action).filter((action) => !/^tag:/.test(action)));
  const listed = new Set(Object.values<string>(aws.managedPolicies).flatMap((actions) => actions.split(' ')));
  const others = Object.values(leftOut).flatMap(readActions);
  expect(Object.keys(aws.managedPolicies)).toHaveLength(2);
  expect([...own, ...others].toSorted()).toEqual([...listed].toSorted());
});
