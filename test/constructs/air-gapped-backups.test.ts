import { backupRolePath } from '../../lib/environment/schema';
import { serviceControlPolicy } from '../../lib/guardrails/policies';
import aws from '../guardrails/aws.json';
import { account, guarded } from '../guardrails/requests';
import { statementsFor } from '../support/policy-evaluator';
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

it('restores the latest from it, into the isolated subnets and a group without rules', () => {
  const { Properties: plan, logicalId } = stack.only('AWS::Backup::RestoreTestingPlan');
  expect(plan.RecoveryPointSelection).toEqual({
    ...{ Algorithm: 'LATEST_WITHIN_WINDOW', SelectionWindowDays: 7 },
    ...{ IncludeVaults: [vault], RecoveryPointTypes: ['SNAPSHOT'] },
  });
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

it('its role is for AWS Backup, and deletes, shares and copies only what AWS Backup made', () => {
  expect(stack.get(roleId).Properties.AssumeRolePolicyDocument.Statement).toEqual([
    { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'backup.amazonaws.com' } },
  ]);
  const resourcesFor = (action: string) =>
    statements
      .filter(({ Action }) => [Action].flat().includes(action))
      .map(({ Resource }) => [Resource].flat().map(textOf).join(' '));
  const snapshots = [expect.stringContaining(':cluster-snapshot:awsbackup:*')];
  expect(resourcesFor('rds:DeleteDBClusterSnapshot')).toEqual(snapshots);
  expect(resourcesFor('rds:ModifyDBClusterSnapshotAttribute')).toEqual(snapshots);
  const drills = [expect.stringContaining(':cluster:awsbackup-restore-test*')];
  expect(resourcesFor('rds:DeleteDBCluster')).toEqual(drills);
  // Those of the vault lie in an account of AWS, and a restore reads them.
  for (const action of ['rds:DescribeDBClusterSnapshots', 'rds:ListTagsForResource'])
    expect(resourcesFor(action)).toContainEqual(
      expect.stringMatching(/^arn:\S+:rds:\S+:\*:cluster-snapshot:awsbackup:\*$/),
    );
  // The API has no resources.
  const everywhere = statements.filter(({ Resource }) => Resource === '*');
  expect(everywhere.map(({ Action }) => Action)).toEqual(['tag:GetResources']);
});

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
  const keys = statements.filter(({ Action }) =>
    [Action].flat().some((action) => /^kms:(?!Describe)/.test(action)),
  );
  expect(keys.map(({ Condition }) => Condition)).toEqual([
    { StringEquals: { 'kms:ViaService': `rds.${withSla.region}.amazonaws.com` } },
    { Bool: { 'kms:GrantIsForAWSResource': 'true' } },
  ]);
});

/** As in an account: `JSON.parse` revives from the inside. */
const deployed: readonly Json[] = JSON.parse(JSON.stringify(statements), (_, value) => {
  if (value?.Ref === 'AWS::AccountId') return account;
  if (value?.['Fn::Select']) return '0123abcd';
  return value?.['Fn::Join'] ? value['Fn::Join'][1].join('') : value;
});
const own = `wallet-${withSla.name}-0123abcd-35-days`;

// With a copy action of a plan, or a job: AWS Backup copies with this role.
it.each([
  ['the air-gapped vault', withSla.region, account, own, true],
  ['another vault', withSla.region, account, 'another', false],
  ['another region', 'sa-east-1', account, own, false],
  ['another account', withSla.region, '999999999999', own, false],
])('its role copies to %s in %s of %s: %s, %s', (_, region, owner, name, isAllowed) => {
  const target = `arn:aws:backup:${region}:${owner}:backup-vault:${name}`;
  const action = 'backup:CopyFromBackupVault';
  const resource = `arn:aws:rds:${withSla.region}:${account}:cluster-snapshot:awsbackup:job-1`;
  const context = { 'backup:CopyTargets': [target], 'aws:RequestedRegion': withSla.region };
  const principal = { 'aws:PrincipalArn': `arn:aws:iam::${account}:role${backupRolePath(withSla)}made` };
  const allowing = statementsFor(
    { Version: '2012-10-17', Statement: deployed },
    { action, resource, context },
  );
  expect(allowing).toHaveLength(isAllowed ? 1 : 0);
  const denying = statementsFor(serviceControlPolicy(guarded(withSla)), {
    action,
    context: { ...context, ...principal },
  });
  // The policy knows regions and accounts.
  expect(denying).toHaveLength(region === withSla.region && owner === account ? 0 : 1);
});
