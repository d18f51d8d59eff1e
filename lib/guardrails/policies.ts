import { backupRolePath, coveredStacksOf, type Environment } from '../environment/schema';

export interface GuardedAccount {
  readonly environment: Environment;
  /** The environment's AWS account, which has no other environment. */
  readonly account: string;
  /** The id of its organization, `o-…`. */
  readonly organization: string;
  /** The ARN of the account's only role, beside CloudFormation's, that may delete keys, release or transfer addresses, and close the account. @default - none */
  readonly breakGlass?: string;
}

/** `actionsOnly`: without the resource control policy, until a first copy and drill of backups succeeded. docs/guardrails.md */
export type AttachedPolicies = GuardedAccount & { readonly actionsOnly: boolean };

export interface Denial {
  readonly Sid: string;
  readonly Effect: 'Deny';
  readonly Principal?: '*';
  readonly Action?: readonly string[];
  readonly NotAction?: readonly string[];
  readonly Resource: '*' | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export interface PolicyDocument {
  readonly Version: '2012-10-17';
  readonly Statement: readonly Denial[];
}

type Condition = NonNullable<Denial['Condition']>;

/** @param actions such as `kms:DisableKey ec2:ReleaseAddress` */
const deny = (Sid: string, actions: string, Condition?: Condition, more?: Partial<Denial>): Denial => ({
  Sid,
  Effect: 'Deny',
  Action: words(actions),
  Resource: '*',
  ...(Condition && { Condition }),
  ...more,
});
const policy = (...Statement: readonly Denial[]): PolicyDocument => ({ Version: '2012-10-17', Statement });
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Some of the services without regional endpoints that AWS lists for region denials:
 * https://docs.aws.amazon.com/controltower/latest/userguide/primary-region-deny-policy.html
 *
 * Left out: what would carry data (CloudFront, Global Accelerator, ECR Public, Snow, multi-region access points of S3, chats),
 * and services with regional endpoints (KMS, ACM, WAF, Config), which this account does not need elsewhere.
 */
const globalServices =
  words(`account aws-portal billing budgets ce consolidatedbilling cur freetier health iam
  invoicing organizations payments pricing route53 route53domains savingsplans shield sso sts support supportplans tax
  trustedadvisor`).map((service) => `${service}:*`);

/**
 * Services with regional endpoints, of which these actions are allowed in other regions too. Approval teams, shared by the recovery
 * account, are in us-east-1 (docs/guardrails.md); `wallet residency` lists snapshots and tags in every enabled region.
 */
const everywhere = words(`cloudtrail:LookupEvents ec2:DescribeRegions ram:AcceptResourceShareInvitation
  ram:GetResourceShareInvitations rds:DescribeDBClusterSnapshots s3:GetAccountPublicAccessBlock s3:GetBucketLocation
  s3:ListAllMyBuckets tag:GetResources`);

/**
 * Calls that let data out without code and without leaving the region; nothing in this project makes them. An approval team of
 * another account could restore from the vault. `AddRoleTo…` gives the cluster a role, with which its extensions aws_s3 and
 * aws_lambda write elsewhere.
 */
const neverCalled = `backup:AssociateBackupVaultMpaApprovalTeam backup:PutBackupVaultAccessPolicy
  lambda:CreateFunctionUrlConfig organizations:LeaveOrganization ram:AssociateResourceShare ram:CreateResourceShare
  rds:AddRoleTo* rds:CreateIntegration rds:StartActivityStream rds:StartExportTask`;

/**
 * Copies of backups, and sharing them. AWS Backup does both with its role to fill the air-gapped vault, which lies in an account of AWS.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/logicallyairgappedvault.html
 */
const backupCopies = 'backup:Copy* backup:StartCopyJob rds:Copy*Snapshot rds:ModifyDB*SnapshotAttribute';

const irreversible =
  'account:CloseAccount ec2:EnableAddressTransfer ec2:ReleaseAddress kms:DisableKey kms:ScheduleKeyDeletion';

/**
 * Material of keys leaves a row's regions by replication only.
 * https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-auth.html
 */
const replicasOfKeys = ({ multiRegionKeys, residencyRegions: regions }: Environment): readonly Denial[] =>
  multiRegionKeys
    ? [
        deny('KeyReplicas', 'kms:ReplicateKey', { StringNotEquals: { 'kms:ReplicaRegion': regions } }),
        deny('PrimaryKeys', 'kms:UpdatePrimaryRegion', { StringNotEquals: { 'kms:PrimaryRegion': regions } }),
      ]
    : [
        deny('KeyReplicas', 'kms:ReplicateKey'),
        deny('MultiRegionKeys', 'kms:CreateKey', { Bool: { 'kms:MultiRegion': 'true' } }),
      ];

/**
 * What nobody in the account may do, its root user included; not service-linked roles.
 * https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps.html
 *
 * Calls that the templates make are denied by a condition key:
 * https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
 */
export function serviceControlPolicy({ environment, account, breakGlass }: GuardedAccount): PolicyDocument {
  const { residencyRegions: regions } = environment;
  const role = (name: string) => `arn:aws:iam::${account}:role${name}`;
  const Resource = coveredStacksOf(environment).map((stack) => role(`${backupRolePath(stack)}*`));
  const vaults = regions.map((region) => `arn:aws:backup:${region}:${account}:backup-vault:*`);
  // Backup selections, and those of restore drills ("API operations"):
  // https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbackup.html
  const ofBackup = ['backup.amazonaws.com', 'restore-testing.backup.amazonaws.com'];
  // CloudFormation deletes what a failed creation made, and disposable stacks. Not `kms:TrailingDaysWithoutKeyUsage`: of an unused
  // key it is the days since its creation, so a rollback would be denied.
  // https://docs.aws.amazon.com/kms/latest/developerguide/monitoring-keys-determining-usage.html
  const deleters = [role('/cdk-*-cfn-exec-role-*'), ...(breakGlass ? [breakGlass] : [])];
  return policy(
    {
      Sid: 'OutsideRegions',
      Effect: 'Deny',
      Resource: '*',
      NotAction: [...globalServices, ...everywhere],
      Condition: { StringNotEquals: { 'aws:RequestedRegion': regions } },
    },
    deny('EnablingRegions', 'account:EnableRegion', { StringNotEquals: { 'account:TargetRegion': regions } }),
    deny('DisablingRegions', 'account:DisableRegion', { StringEquals: { 'account:TargetRegion': regions } }),
    deny('NeverCalled', neverCalled),
    deny('BackupCopies', backupCopies, { ArnNotLike: { 'aws:PrincipalArn': Resource } }),
    // A plan's copy action can do this: AWS Backup carries it out with its role.
    deny('BackupCopiesElsewhere', 'backup:CopyFromBackupVault', {
      'ForAnyValue:ArnNotLike': { 'backup:CopyTargets': vaults },
    }),
    // Whatever the role's trust policy says, nobody but AWS Backup uses it: policies do not bind services.
    deny('BackupRole', 'sts:AssumeRole', undefined, { Resource }),
    deny(
      'BackupRoleToOthers',
      'iam:PassRole',
      { StringNotEquals: { 'iam:PassedToService': ofBackup } },
      { Resource },
    ),
    ...replicasOfKeys(environment),
    // https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets-permissions.html
    deny('SecretReplicas', 'secretsmanager:CreateSecret secretsmanager:ReplicateSecretToRegions', {
      Null: { 'secretsmanager:AddReplicaRegions': 'false' },
    }),
    // Receivers' allow-lists and all derived secrets depend on these, and no backup holds them. An address can be transferred to any
    // account: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-eips.html#transfer-EIPs-intro
    deny('IrreversibleLoss', irreversible, { ArnNotLike: { 'aws:PrincipalArn': deleters } }),
    // A key whose policy locks its account out: as Control Tower's CT.KMS.PV.3.
    // https://docs.aws.amazon.com/controltower/latest/controlreference/ct-kms-pv-3.html
    deny('KeyLockout', 'kms:CreateKey kms:PutKeyPolicy', {
      Bool: { 'kms:BypassPolicyLockoutSafetyCheck': 'true' },
    }),
  );
}

/**
 * Who may use the account's resources, whatever their own policies say: the organization's principals and services of AWS.
 * `AssumeRoleWithWebIdentity` is left out: GitHub's tokens belong to no organization, and the roles' trust policies check them.
 * https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_rcps.html
 * https://github.com/aws-samples/data-perimeter-policy-examples/tree/main/resource_control_policies
 */
export const resourceControlPolicy = ({ organization }: GuardedAccount): PolicyDocument =>
  policy(
    deny(
      'OtherOrganizations',
      'kms:* s3:* secretsmanager:* sqs:* sts:AssumeRole',
      {
        StringNotEqualsIfExists: { 'aws:PrincipalOrgID': organization },
        BoolIfExists: { 'aws:PrincipalIsAWSService': 'false' },
      },
      { Principal: '*' },
    ),
  );
