import aws from '../guardrails/aws.json';
import { withSla } from '../support/rows';
import { type Json, stackOf } from '../support/stacks';
import { readActions } from './documented-permissions';

const stack = stackOf(withSla);
const [, roleId = ''] = stack.only('AWS::Backup::BackupSelection').DependsOn ?? [];

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
