import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as backup from 'aws-cdk-lib/aws-backup';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, type PolicyStatementProps, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledgePermissions, defaultPolicy } from '../checks/acknowledgements';
import { backupRolePath, type Environment } from '../environment/schema';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';
import { type DatabaseCluster, uniqueName } from './cluster';

export interface AirGappedBackupsProps {
  readonly environment: Environment;
  readonly vpc: IVpc;
  readonly cluster: DatabaseCluster;
  /** Neither earlier nor later: 7 or more. */
  readonly retentionDays: number;
}

/**
 * Daily backups of the cluster in a logically air-gapped vault of the same region, and every three days a drill that restores the
 * latest. The vault is locked in compliance mode and encrypted with a key of AWS: whoever holds the account can stop new backups, and
 * delete none. docs/decisions/air-gapped-backups.md
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/logicallyairgappedvault.html
 */
export class AirGappedBackups extends Construct {
  readonly vaultName: string;
  readonly vaultArn: string;
  readonly drillArn: string;

  constructor(
    scope: Construct,
    id: string,
    private readonly props: AirGappedBackupsProps,
  ) {
    super(scope, id);
    const { environment, cluster, retentionDays } = props;
    // Name and retention are set on creation only. With the retention in its name, a replacement never collides.
    this.vaultName = `${uniqueName(environment)}-${retentionDays}-days`;
    const vault = new backup.CfnLogicallyAirGappedBackupVault(this, 'Vault', {
      backupVaultName: this.vaultName,
      minRetentionDays: retentionDays,
      maxRetentionDays: retentionDays,
    });
    // An Aurora backup keeps the cluster's key: https://docs.aws.amazon.com/aws-backup/latest/devguide/encryption.html
    const temporary = new backup.CfnBackupVault(this, 'TemporaryVault', {
      backupVaultName: `${uniqueName(environment)}-temporary`,
    });
    // A vault with backups cannot be deleted. After a failed creation both are empty.
    for (const each of [vault, temporary]) each.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const role = this.createRole(temporary.backupVaultName);
    const plan = new backup.CfnBackupPlan(this, 'Plan', {
      backupPlan: {
        backupPlanName: Stack.of(this).stackName,
        backupPlanRule: [
          {
            ruleName: 'daily',
            scheduleExpression: 'cron(0 1 ? * * *)',
            startWindowMinutes: 60,
            // Aurora: a temporary snapshot here, copied there and deleted, or kept if the copy failed.
            // https://docs.aws.amazon.com/aws-backup/latest/devguide/lag-vault-primary-backup.html
            targetBackupVault: temporary.ref,
            targetLogicallyAirGappedBackupVaultArn: vault.attrBackupVaultArn,
            lifecycle: { deleteAfterDays: retentionDays },
          },
        ],
      },
    });
    const selection = new backup.CfnBackupSelection(this, 'Selection', {
      backupPlanId: plan.ref,
      backupSelection: {
        // Replaced with the cluster, like the cluster under another name.
        selectionName: cluster.identifier,
        iamRoleArn: role.roleArn,
        resources: [cluster.arn],
      },
    });
    selection.node.addDependency(role);
    this.vaultArn = vault.attrBackupVaultArn;
    this.drillArn = this.drillRestore(vault, role).attrRestoreTestingPlanArn;
    withStableLogicalId(vault, 'AirGappedVault');
  }

  /**
   * Restores the latest backup into the isolated subnets, without an instance, and deletes the cluster at once: it proves that the
   * backup restores. The defaults are the default VPC, which may not exist, and the vault's key.
   * https://docs.aws.amazon.com/aws-backup/latest/devguide/restore-testing.html
   * https://docs.aws.amazon.com/aws-backup/latest/devguide/restore-testing-inferred-metadata.html
   */
  private drillRestore(vault: backup.CfnLogicallyAirGappedBackupVault, role: Role) {
    const { cluster, vpc } = this.props;
    const description = 'Restore drills: admits nothing, reaches nothing';
    const { securityGroupId } = new ClosedSecurityGroup(this, 'DrillSecurityGroup', { vpc, description });
    const drill = new backup.CfnRestoreTestingPlan(this, 'Drill', {
      restoreTestingPlanName: Stack.of(this).stackName,
      // On the 1st, 4th … 31st. Later than the backup.
      scheduleExpression: 'cron(0 8 1/3 * ? *)',
      startWindowHours: 1,
      recoveryPointSelection: {
        algorithm: 'LATEST_WITHIN_WINDOW',
        includeVaults: [vault.attrBackupVaultArn],
        recoveryPointTypes: ['SNAPSHOT'],
        selectionWindowDays: 7,
      },
    });
    new backup.CfnRestoreTestingSelection(this, 'DrillSelection', {
      restoreTestingPlanName: drill.ref,
      restoreTestingSelectionName: 'cluster',
      protectedResourceType: 'Aurora',
      protectedResourceArns: [cluster.arn],
      iamRoleArn: role.roleArn,
      restoreMetadataOverrides: {
        dbSubnetGroupName: cluster.subnetGroupName,
        kmsKeyId: cluster.key.keyArn,
        vpcSecurityGroupIds: `["${securityGroupId}"]`,
      },
    }).node.addDependency(role);
    return drill;
  }

  /**
   * What AWS's managed policies for AWS Backup have for Aurora, on the resources of this cluster. Not the policies themselves: they allow
   * copies to any account's vault, and widen every few weeks; a test compares.
   * https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSBackupServiceRolePolicyForBackup.html
   * https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSBackupServiceRolePolicyForRestores.html
   */
  private createRole(temporaryVault: string): Role {
    const { environment, cluster } = this.props;
    const stack = Stack.of(this);
    const arn = (service: string, resource: string, resourceName: string, account = stack.account) =>
      stack.formatArn({ service, resource, resourceName, account, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
    const rds = (resource: string, name: string) => arn('rds', resource, name);
    const snapshots = rds('cluster-snapshot', 'awsbackup:*');
    const drilled = rds('cluster', 'awsbackup-restore-test*');
    const role = new Role(this, 'Role', {
      path: backupRolePath(environment),
      description: `Air-gapped backups of ${environment.name}: backup, copy, restore drills`,
      assumedBy: new ServicePrincipal('backup.amazonaws.com'),
    });
    const named = 'AWS Backup makes the names of its snapshots and of the clusters that it restores.';
    const vaultSnapshots = arn('rds', 'cluster-snapshot', 'awsbackup:*', '*');
    const vault = (name: string) => arn('backup', 'backup-vault', name);
    const keyArn = [cluster.key.keyArn];
    // A reason for a `*` stands at the first statement with that resource.
    const permissions = [
      allow('rds:CreateDBClusterSnapshot DescribeDBClusters ListTagsForResource', [cluster.arn]),
      allow(
        'rds:AddTagsToResource CopyDBClusterSnapshot CreateDBClusterSnapshot DeleteDBClusterSnapshot DescribeDBClusterSnapshots ListTagsForResource ModifyDBClusterSnapshotAttribute',
        [snapshots],
        { wildcard: named },
      ),
      allow('backup:CopyIntoBackupVault DescribeBackupVault', [vault(this.vaultName), vault(temporaryVault)]),
      allow('backup:CopyFromBackupVault', [snapshots], {
        conditions: { 'ForAllValues:ArnEquals': { 'backup:CopyTargets': vault(this.vaultName) } },
      }),
      allow('backup:TagResource', [arn('backup', 'recovery-point', '*')], {
        wildcard: 'AWS Backup makes the ids of recovery points. It sets the tags of a new one.',
      }),
      allow('tag:GetResources', ['*'], { wildcard: 'The action has no resources. It reads tags.' }),
      allow('kms:DescribeKey', keyArn),
      allow(
        'kms:Decrypt Encrypt GenerateDataKey GenerateDataKeyWithoutPlaintext ReEncryptFrom ReEncryptTo',
        keyArn,
        {
          conditions: { StringEquals: { 'kms:ViaService': `rds.${stack.region}.amazonaws.com` } },
        },
      ),
      allow('kms:CreateGrant', keyArn, { conditions: { Bool: { 'kms:GrantIsForAWSResource': 'true' } } }),
      allow('rds:AddTagsToResource DeleteDBCluster DescribeDBClusters ListTagsForResource', [drilled], {
        wildcard: named,
      }),
      allow(
        'rds:DescribeDBClusterAutomatedBackups DescribeDBInstances',
        [rds('cluster-auto-backup', '*'), rds('db', '*')],
        { wildcard: 'AWS makes the ids. They read names and states.' },
      ),
      allow('rds:RestoreDBClusterFromSnapshot', [drilled, rds('subgrp', cluster.subnetGroupName)]),
      allow(
        'rds:RestoreDBClusterFromSnapshot',
        [rds('cluster-pg', 'default.*'), rds('og', 'default:*'), vaultSnapshots],
        {
          wildcard:
            'Snapshots of the vault lie in an account of AWS, and default groups are named after versions.',
        },
      ),
      // A restore also reads the snapshot: AWS's policy for restores (RDSPermissions, version 35) allows it on all.
      allow('rds:DescribeDBClusterSnapshots ListTagsForResource', [vaultSnapshots]),
    ];
    for (const { wildcard: _, ...statement } of permissions) role.addToPolicy(new PolicyStatement(statement));
    acknowledgePermissions(defaultPolicy(role), permissions);
    return role;
  }
}

/** @param actions `service:Action Action` */
function allow(
  actions: string,
  resources: string[],
  more: Pick<PolicyStatementProps, 'conditions'> & { readonly wildcard?: string } = {},
) {
  const [service = '', names = ''] = actions.split(':');
  return { actions: names.split(' ').map((name) => `${service}:${name}`), resources, ...more };
}
