import { backupRolePath, type Environment, stacksOf } from '../environment/schema';

/** What the policies are for. */
export interface GuardedAccount {
  readonly environment: Environment;
  /** The environment's AWS account, which has no other environment. */
  readonly account: string;
  /** The id of its organization, `o-…`. */
  readonly organization: string;
  /** The ARN of the account's only role, beside CloudFormation's, that may delete keys and release addresses. @default - none */
  readonly breakGlass?: string;
}

/** A statement that denies. */
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

const deny = (
  ...statements: readonly (Omit<Denial, 'Effect' | 'Resource'> & Partial<Denial>)[]
): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: statements.map((statement) => ({ Effect: 'Deny', Resource: '*', ...statement })),
});

const words = (text: string): readonly string[] => text.split(/\s+/);
const allOf = (services: string): readonly string[] => words(services).map((service) => `${service}:*`);
const actionsIn = (services: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(services).flatMap(([service, actions]) =>
    words(actions).map((action) => `${service}:${action}`),
  );

/**
 * Of the services without regional endpoints that AWS lists for region denials:
 * https://docs.aws.amazon.com/controltower/latest/userguide/primary-region-deny-policy.html
 *
 * Left out: what would carry data (CloudFront, Global Accelerator, ECR Public, Snow, multi-region access points of S3, chats),
 * and services with regional endpoints (KMS, ACM, WAF, Config), which this account does not need elsewhere.
 */
const globalServices = [
  ...allOf(`account aws-portal billing budgets ce consolidatedbilling cur freetier health iam invoicing organizations
    payments pricing route53 route53domains savingsplans shield sso sts support supportplans tax trustedadvisor`),
  ...actionsIn({
    cloudtrail: 'LookupEvents',
    ec2: 'DescribeRegions',
    // Approval teams, shared by the recovery account, are in us-east-1: docs/guardrails.md.
    ram: 'AcceptResourceShareInvitation GetResourceShareInvitations',
    s3: 'GetAccountPublicAccessBlock GetBucketLocation ListAllMyBuckets',
  }),
];

/** What `wallet residency` lists in every enabled region. */
const evidence = ['rds:DescribeDBClusterSnapshots', 'tag:GetResources'];

/** Ways out within a region that need no code. No template, command or page of this project calls them. */
const neverCalled = actionsIn({
  // A team of another account could restore from the vault there. docs/guardrails.md attaches ours.
  backup: 'AssociateBackupVaultMpaApprovalTeam PutBackupVaultAccessPolicy',
  lambda: 'CreateFunctionUrlConfig',
  organizations: 'LeaveOrganization',
  ram: 'AssociateResourceShare CreateResourceShare',
  // AddRoleTo*: the extensions aws_s3 and aws_lambda of PostgreSQL act with such a role.
  rds: 'AddRoleTo* CreateIntegration StartActivityStream StartExportTask',
});

/**
 * Copies of backups, and sharing them. AWS Backup does both with its role to fill the air-gapped vault, which lies in an account of AWS.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/logicallyairgappedvault.html
 */
const backupCopies = actionsIn({
  backup: 'Copy* StartCopyJob',
  rds: 'Copy*Snapshot ModifyDB*SnapshotAttribute',
});

/** Receivers' allow-lists and all derived secrets depend on them, and no backup holds them. */
const irreversible = actionsIn({ ec2: 'ReleaseAddress', kms: 'DisableKey ScheduleKeyDeletion' });

/**
 * Material of keys leaves a row's regions by replication only.
 * https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-auth.html
 */
const replicasOfKeys = ({ multiRegionKeys, residencyRegions: regions }: Environment) =>
  multiRegionKeys
    ? [
        {
          Sid: 'KeyReplicas',
          Action: ['kms:ReplicateKey'],
          Condition: { StringNotEquals: { 'kms:ReplicaRegion': regions } },
        },
        {
          Sid: 'PrimaryKeys',
          Action: ['kms:UpdatePrimaryRegion'],
          Condition: { StringNotEquals: { 'kms:PrimaryRegion': regions } },
        },
      ]
    : [
        { Sid: 'KeyReplicas', Action: ['kms:ReplicateKey'] },
        {
          Sid: 'MultiRegionKeys',
          Action: ['kms:CreateKey'],
          Condition: { Bool: { 'kms:MultiRegion': 'true' } },
        },
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
  const backupRoles = stacksOf(environment).map((stack) => role(`${backupRolePath(stack)}*`));
  return deny(
    {
      Sid: 'OutsideRegions',
      NotAction: [...globalServices, ...evidence],
      Condition: { StringNotEquals: { 'aws:RequestedRegion': regions } },
    },
    {
      Sid: 'EnablingRegions',
      Action: ['account:EnableRegion'],
      Condition: { StringNotEquals: { 'account:TargetRegion': regions } },
    },
    { Sid: 'NeverCalled', Action: neverCalled },
    {
      Sid: 'BackupCopies',
      Action: backupCopies,
      Condition: { ArnNotLike: { 'aws:PrincipalArn': backupRoles } },
    },
    {
      // By a plan's copy action, which AWS Backup carries out with its role.
      Sid: 'BackupCopiesElsewhere',
      Action: ['backup:CopyFromBackupVault'],
      Condition: {
        'ForAnyValue:ArnNotLike': {
          'backup:CopyTargets': regions.map((region) => `arn:aws:backup:${region}:${account}:backup-vault:*`),
        },
      },
    },
    // Whatever the role's trust policy says, nobody but AWS Backup uses it: policies do not bind services.
    { Sid: 'BackupRole', Action: ['sts:AssumeRole'], Resource: backupRoles },
    {
      // Backup selections, and those of restore drills ("API operations"):
      // https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbackup.html
      Sid: 'BackupRoleToOthers',
      Action: ['iam:PassRole'],
      Resource: backupRoles,
      Condition: {
        StringNotEquals: {
          'iam:PassedToService': ['backup.amazonaws.com', 'restore-testing.backup.amazonaws.com'],
        },
      },
    },
    ...replicasOfKeys(environment),
    {
      // https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets-permissions.html
      Sid: 'SecretReplicas',
      Action: ['secretsmanager:CreateSecret', 'secretsmanager:ReplicateSecretToRegions'],
      Condition: { Null: { 'secretsmanager:AddReplicaRegions': 'false' } },
    },
    {
      // CloudFormation deletes what a failed creation made, and developers' copies. Not `kms:TrailingDaysWithoutKeyUsage`: of an
      // unused key it is the days since its creation, so a rollback would be denied.
      // https://docs.aws.amazon.com/kms/latest/developerguide/monitoring-keys-determining-usage.html
      Sid: 'IrreversibleLoss',
      Action: irreversible,
      Condition: {
        ArnNotLike: {
          'aws:PrincipalArn': [role('/cdk-*-cfn-exec-role-*'), ...(breakGlass ? [breakGlass] : [])],
        },
      },
    },
  );
}

/**
 * Who may use the account's resources, whatever their own policies say: the organization's principals and services of AWS.
 * `AssumeRoleWithWebIdentity` is left out: GitHub's tokens belong to no organization, and the roles' trust policies check them.
 * https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_rcps.html
 * https://github.com/aws-samples/data-perimeter-policy-examples/tree/main/resource_control_policies
 */
export const resourceControlPolicy = ({ organization }: GuardedAccount): PolicyDocument =>
  deny({
    Sid: 'OtherOrganizations',
    Principal: '*',
    Action: ['kms:*', 's3:*', 'secretsmanager:*', 'sqs:*', 'sts:AssumeRole'],
    Condition: {
      StringNotEqualsIfExists: { 'aws:PrincipalOrgID': organization },
      BoolIfExists: { 'aws:PrincipalIsAWSService': 'false' },
    },
  });
