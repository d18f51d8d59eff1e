import { backupRolePath, type Environment, stacksOf } from '../environment/schema';

/** What the policies are for. */
export interface GuardedAccount {
  readonly environment: Environment;
  /** The environment's AWS account, which has no other environment. */
  readonly account: string;
  /** The id of its organization, `o-…`. */
  readonly organization: string;
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

/** Ways out within a region. No template, command or page of this project calls them. */
const neverCalled = [
  ...allOf('appflow cloudfront datasync dms ecr-public firehose globalaccelerator transfer'),
  ...actionsIn({
    // A team of another account could restore from the vault there. docs/guardrails.md attaches ours.
    backup: 'AssociateBackupVaultMpaApprovalTeam PutBackupVaultAccessPolicy',
    cloudwatch: 'PutMetricStream',
    ec2: `AcceptVpcPeeringConnection Copy* CreateEgressOnlyInternetGateway CreateTrafficMirrorSession
      CreateTransitGateway* CreateVpcEndpointServiceConfiguration CreateVpcPeeringConnection CreateVpnConnection
      Export* ModifyImageAttribute ModifySnapshotAttribute`,
    ecr: 'PutReplicationConfiguration',
    events: 'CreateApiDestination CreateConnection CreateEndpoint PutPermission',
    lambda: 'AddLayerVersionPermission CreateFunctionUrlConfig',
    logs: 'CreateDelivery CreateExportTask PutAccountPolicy PutDestination* PutSubscriptionFilter',
    oam: 'CreateLink',
    organizations: 'LeaveOrganization',
    ram: 'AssociateResourceShare CreateResourceShare',
    // AddRoleTo*: the extensions aws_s3 and aws_lambda of PostgreSQL act with such a role.
    rds: 'AddRoleTo* CreateIntegration ModifyDBSnapshotAttribute StartActivityStream StartExportTask',
    s3: 'PutReplicationConfiguration',
    sns: 'AddPermission',
  }),
];

/**
 * Copies of backups, and sharing them. AWS Backup does both with its role to fill the air-gapped vault, which lies in an account of AWS.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/logicallyairgappedvault.html
 */
const backupCopies = actionsIn({
  backup: 'Copy* StartCopyJob',
  rds: 'CopyDBClusterSnapshot CopyDBSnapshot ModifyDBClusterSnapshotAttribute',
});

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
export function serviceControlPolicy({ environment, account }: GuardedAccount): PolicyDocument {
  const { residencyRegions: regions } = environment;
  const ownTargets = regions.map((region) => `arn:aws:*:${region}:${account}:*`);
  const backupRoles = stacksOf(environment).map(
    (stack) => `arn:aws:iam::${account}:role${backupRolePath(stack)}*`,
  );
  const endpointType = 'apigateway:Request/EndpointType';
  return deny(
    {
      Sid: 'OutsideRegions',
      NotAction: [...globalServices, ...evidence],
      Condition: { StringNotEquals: { 'aws:RequestedRegion': regions } },
    },
    { Sid: 'NeverCalled', Action: neverCalled },
    {
      Sid: 'BackupCopies',
      Action: backupCopies,
      Condition: { ArnNotLike: { 'aws:PrincipalArn': backupRoles } },
    },
    // Whatever the role's trust policy says, nobody but AWS Backup uses it: policies do not bind services.
    { Sid: 'BackupRole', Action: ['sts:AssumeRole'], Resource: backupRoles },
    {
      Sid: 'BackupRoleToOthers',
      Action: ['iam:PassRole'],
      Resource: backupRoles,
      Condition: { StringNotEquals: { 'iam:PassedToService': 'backup.amazonaws.com' } },
    },
    {
      Sid: 'EnablingRegions',
      Action: ['account:EnableRegion'],
      Condition: { StringNotEquals: { 'account:TargetRegion': regions } },
    },
    {
      // `ForAllValues` is true without a type: the default is an edge-optimized endpoint.
      Sid: 'EdgeEndpoints',
      Action: ['apigateway:POST'],
      Resource: ['arn:aws:apigateway:*::/restapis', 'arn:aws:apigateway:*::/domainnames'],
      Condition: { 'ForAllValues:StringNotEquals': { [endpointType]: ['PRIVATE', 'REGIONAL'] } },
    },
    {
      Sid: 'ChangesToEdge',
      Action: ['apigateway:PATCH', 'apigateway:PUT'],
      Condition: { 'ForAnyValue:StringEquals': { [endpointType]: 'EDGE' } },
    },
    {
      Sid: 'EventTargets',
      Action: ['events:PutTargets'],
      Condition: { 'ForAnyValue:ArnNotLike': { 'events:TargetArn': ownTargets } },
    },
    ...replicasOfKeys(environment),
    {
      Sid: 'FunctionInvokers',
      Action: ['lambda:AddPermission'],
      Condition: { StringNotLike: { 'lambda:Principal': '*.amazonaws.com' } },
    },
    {
      // https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets-permissions.html
      Sid: 'SecretReplicas',
      Action: ['secretsmanager:CreateSecret', 'secretsmanager:ReplicateSecretToRegions'],
      Condition: { Null: { 'secretsmanager:AddReplicaRegions': 'false' } },
    },
    {
      Sid: 'Subscriptions',
      Action: ['sns:Subscribe'],
      Condition: { StringNotEquals: { 'sns:Protocol': ['email', 'lambda', 'sqs'] } },
    },
    {
      Sid: 'FirewallLogs',
      Action: ['wafv2:PutLoggingConfiguration'],
      Condition: { ArnNotLike: { 'wafv2:LogDestinationResource': `arn:aws:logs:*:${account}:*` } },
    },
    {
      Sid: 'OtherAccounts',
      Action: ['lambda:InvokeFunction', 's3:PutObject', 'sns:Publish', 'sqs:SendMessage'],
      Condition: { StringNotEquals: { 'aws:ResourceAccount': account } },
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
