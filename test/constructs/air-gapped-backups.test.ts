import { validateEnvironments } from '../../lib/environment/rules';
import { airGappedRetentionDays } from '../../lib/environment/schema';
import { developerEnvironment } from '../../lib/environments';
import { newcomer, promoted, restored, withoutSla, withSla, withStandby } from '../support/rows';
import { type StackTemplate, stackOf, synthesizeEveryStack } from '../support/stacks';

const stack = stackOf(newcomer);
const vaultType = 'AWS::Backup::LogicallyAirGappedBackupVault';
const vaultOf = (from: StackTemplate) => from.only(vaultType).Properties;
const cluster = {
  'Fn::Join': expect.arrayContaining([expect.arrayContaining([{ Ref: 'DatabaseCluster' }])]),
};
const role = { 'Fn::GetAtt': [stack.only('AWS::Backup::BackupSelection').DependsOn?.[1], 'Arn'] };

it('has a vault with one retention, named after it and the stack, with the key of AWS, which outlives the stack', () => {
  const { Properties, DeletionPolicy, UpdateReplacePolicy } = stack.only(vaultType);
  expect(Properties).toEqual({
    BackupVaultName: { 'Fn::Join': ['', ['wallet-newcomer-', expect.anything(), '-35-days']] },
    BackupVaultTags: expect.anything(),
    MinRetentionDays: 35,
    MaxRetentionDays: 35,
  });
  expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
  expect(stack.only('AWS::Backup::BackupVault')).toMatchObject({ UpdateReplacePolicy: 'Retain' });
});

it('backs the cluster up daily into it, without continuous backups or copies, for as long as it keeps them', () => {
  const [rule] = stack.only('AWS::Backup::BackupPlan').Properties.BackupPlan.BackupPlanRule;
  expect(rule).toEqual({
    RuleName: 'daily',
    ScheduleExpression: 'cron(0 1 ? * * *)',
    StartWindowMinutes: 60,
    Lifecycle: { DeleteAfterDays: 35 },
    TargetBackupVault: { Ref: stack.only('AWS::Backup::BackupVault').logicalId },
    TargetLogicallyAirGappedBackupVaultArn: { 'Fn::GetAtt': ['AirGappedVault', 'BackupVaultArn'] },
  });
  expect(stack.only('AWS::Backup::BackupSelection').Properties.BackupSelection).toMatchObject({
    Resources: [cluster],
    IamRoleArn: role,
  });
});

it('restores every three days from it, into the isolated subnets and a group without rules', () => {
  const { Properties: plan, logicalId } = stack.only('AWS::Backup::RestoreTestingPlan');
  expect(plan).toMatchObject({
    ScheduleExpression: 'cron(0 8 1/3 * ? *)',
    RecoveryPointSelection: { IncludeVaults: [{ 'Fn::GetAtt': ['AirGappedVault', 'BackupVaultArn'] }] },
  });
  const { Properties } = stack.only('AWS::Backup::RestoreTestingSelection');
  expect(Properties).toMatchObject({
    RestoreTestingPlanName: { Ref: logicalId },
    ProtectedResourceArns: [cluster],
    RestoreMetadataOverrides: {
      dbSubnetGroupName: { Ref: 'DatabaseSubnets' },
      kmsKeyId: { 'Fn::GetAtt': ['DatabaseKey', 'Arn'] },
    },
  });
  expect(Properties.ValidationWindowHours).toBeUndefined();
  const [before, { 'Fn::GetAtt': group }, after] =
    Properties.RestoreMetadataOverrides.vpcSecurityGroupIds['Fn::Join'][1];
  expect([before, after]).toEqual(['["', '"]']);
  const { SecurityGroupEgress, SecurityGroupIngress } = stack.get(group[0]).Properties;
  expect([SecurityGroupIngress, SecurityGroupEgress]).toEqual([
    undefined,
    [expect.objectContaining({ CidrIp: '127.0.0.1/32' })],
  ]);
  for (const { Properties } of stack.all('AWS::EC2::SecurityGroupIngress'))
    expect(JSON.stringify(Properties)).not.toContain(group[0]);
});

it('alarms when no copy has arrived for 28 hours, and no drill has succeeded for six days', () => {
  const alarm = (name: string) =>
    stack.all('AWS::CloudWatch::Alarm').find(({ Properties }) => Properties.AlarmName.endsWith(name))
      ?.Properties;
  const watching = (name: string) => ({
    ...{ ComparisonOperator: 'LessThanThreshold', Threshold: 1, TreatMissingData: 'breaching' },
    Metrics: expect.arrayContaining([
      expect.objectContaining({
        MetricStat: expect.objectContaining({ Metric: expect.objectContaining({ MetricName: name }) }),
      }),
    ]),
  });
  expect(alarm('-backup-copy')).toMatchObject({
    ...watching('NumberOfCopyJobsCompleted'),
    EvaluationPeriods: 28,
  });
  expect(alarm('-restore-drill')).toMatchObject({
    ...watching('NumberOfRestoreJobsCompleted'),
    EvaluationPeriods: 6,
  });
  for (const name of ['-backup-copy', '-restore-drill'])
    for (const { MetricStat } of alarm(name).Metrics) {
      if (!MetricStat) continue;
      expect(JSON.stringify(MetricStat.Metric.Dimensions)).toContain('-35-days');
      expect(MetricStat.Period * alarm(name).EvaluationPeriods).toBeLessThanOrEqual(7 * 86_400);
    }
});

describe('the role', () => {
  const [{ PolicyDocument }] = stack
    .all('AWS::IAM::Policy')
    .map(({ Properties }) => Properties)
    .filter(({ Roles }) => JSON.stringify(Roles).includes(String(role['Fn::GetAtt'][0]))) as [
    { PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown; Condition?: object }[] } },
  ];
  const allowing = (action: string) =>
    PolicyDocument.Statement.filter(({ Action }) => [Action].flat().includes(action));

  it('is for AWS Backup only', () => {
    const { AssumeRolePolicyDocument } = stack.get(String(role['Fn::GetAtt'][0])).Properties;
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'backup.amazonaws.com' } },
    ]);
  });

  it('deletes, shares and copies only what AWS Backup made, into this vault only', () => {
    for (const action of ['rds:DeleteDBClusterSnapshot', 'rds:ModifyDBClusterSnapshotAttribute'])
      expect(JSON.stringify(allowing(action))).toMatch(/cluster-snapshot:awsbackup:\*/);
    const [deletion, ...others] = allowing('rds:DeleteDBCluster');
    expect(JSON.stringify(deletion?.Resource)).toMatch(/cluster:awsbackup-restore-test\*/);
    expect(others).toEqual([]);
    const [copy] = allowing('backup:CopyFromBackupVault');
    expect(JSON.stringify(copy?.Condition)).toMatch(/backup:CopyTargets.*backup-vault:wallet-newcomer-/);
    expect(allowing('kms:CreateGrant')).toMatchObject([
      { Condition: { Bool: { 'kms:GrantIsForAWSResource': 'true' } } },
    ]);
  });

  it('names every resource but where the API has none', () => {
    const everywhere = PolicyDocument.Statement.filter(({ Resource }) => Resource === '*');
    expect(everywhere.map(({ Action }) => Action)).toEqual(['tag:GetResources']);
  });
});

it('exists only with a service level agreement, in no standby, and in a promoted one', () => {
  expect(stackOf(withoutSla).all(vaultType)).toEqual([]);
  expect(stackOf(developerEnvironment('ada')).resources.filter(({ Type }) => /Backup/.test(Type))).toEqual(
    [],
  );
  const { [withStandby.standby.stackId]: standby } = synthesizeEveryStack([withStandby]);
  expect(standby?.all(vaultType)).toEqual([]);
  expect(stackOf(promoted(withStandby)).all(vaultType)).toHaveLength(1);
});

it('another retention begins a new vault, and a restored cluster a new selection', () => {
  const longer = { ...newcomer, airGappedBackups: { retentionDays: 60 } };
  expect(vaultOf(stackOf(longer))).toMatchObject({
    ...{ MinRetentionDays: 60, MaxRetentionDays: 60 },
    BackupVaultName: { 'Fn::Join': ['', ['wallet-newcomer-', expect.anything(), '-60-days']] },
  });
  const snapshot = 'arn:aws:rds:ap-southeast-1:111122223333:cluster-snapshot:before';
  const after = stackOf(restored(newcomer, { snapshot }));
  expect(vaultOf(after)).toEqual(vaultOf(stack));
  expect(after.only('AWS::Backup::BackupSelection').Properties.BackupSelection.SelectionName).toEqual({
    Ref: 'DatabaseCluster',
  });
});

it.each([
  [withSla, { retentionDays: 6 }, 'retentionDays is 6. Use 7 to 365, in steps of 1.'],
  [withSla, { retentionDays: 366 }, 'retentionDays is 366. Use 7 to 365'],
  [withSla, { retentionDays: 7.5 }, 'retentionDays is 7.5. Use 7 to 365'],
  [withSla, {}, 'airGappedBackups.retentionDays is missing'],
  [withoutSla, { retentionDays: 35 }, 'airGappedBackups is {"retentionDays":35}. Remove it: without'],
])('refuses a wrong row: %#', (row, airGappedBackups, message) => {
  expect(() => validateEnvironments([{ ...row, airGappedBackups }])).toThrow(message);
});

it('keeps backups for 35 days unless the row says otherwise', () => {
  const { airGappedBackups: _, ...row } = withSla;
  expect(airGappedRetentionDays(row)).toBe(35);
  expect(airGappedRetentionDays({ ...row, airGappedBackups: { retentionDays: 7 } })).toBe(7);
  expect(airGappedRetentionDays(withoutSla)).toBeUndefined();
});
