import type { Environment } from '../environment/schema';

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

/**
 * Services without regional endpoints, of AWS's own list for region denials:
 * https://docs.aws.amazon.com/controltower/latest/userguide/primary-region-deny-policy.html
 *
 * Left out: what would carry data (CloudFront, Global Accelerator, ECR Public, Snow, multi-region access points of S3, chats),
 * and services with regional endpoints (KMS, ACM, WAF, Config), which this account does not need elsewhere.
 */
const globalServices = [
  'account:*',
  'aws-portal:*',
  'billing:*',
  'budgets:*',
  'ce:*',
  'cloudtrail:LookupEvents',
  'consolidatedbilling:*',
  'cur:*',
  'ec2:DescribeRegions',
  'freetier:*',
  'health:*',
  'iam:*',
  'invoicing:*',
  'organizations:*',
  'payments:*',
  'pricing:*',
  'route53:*',
  'route53domains:*',
  's3:GetAccountPublicAccessBlock',
  's3:GetBucketLocation',
  's3:ListAllMyBuckets',
  'savingsplans:*',
  'shield:*',
  'sso:*',
  'sts:*',
  'support:*',
  'supportplans:*',
  'tax:*',
  'trustedadvisor:*',
];

/** What `wallet residency` reads in every enabled region. */
const evidence = ['rds:DescribeDBClusters', 'rds:DescribeDBClusterSnapshots', 'tag:GetResources'];

/** Ways out within a region. No template, command or page of this project calls them. */
const neverCalled = [
  'appflow:*',
  'cloudfront:*',
  'cloudwatch:PutMetricStream',
  'datasync:*',
  'dms:*',
  'ec2:AcceptVpcPeeringConnection',
  'ec2:Copy*',
  'ec2:CreateEgressOnlyInternetGateway',
  'ec2:CreateTrafficMirrorSession',
  'ec2:CreateTransitGateway*',
  'ec2:CreateVpcEndpointServiceConfiguration',
  'ec2:CreateVpcPeeringConnection',
  'ec2:CreateVpnConnection',
  'ec2:Export*',
  'ec2:ModifyImageAttribute',
  'ec2:ModifySnapshotAttribute',
  'ecr-public:*',
  'ecr:PutReplicationConfiguration',
  'events:CreateApiDestination',
  'events:CreateConnection',
  'events:CreateEndpoint',
  'events:PutPermission',
  'firehose:*',
  'globalaccelerator:*',
  'kms:ReplicateKey',
  'lambda:AddLayerVersionPermission',
  'lambda:CreateFunctionUrlConfig',
  'logs:CreateDelivery',
  'logs:CreateExportTask',
  'logs:PutAccountPolicy',
  'logs:PutDestination*',
  'logs:PutSubscriptionFilter',
  'oam:CreateLink',
  'organizations:LeaveOrganization',
  'ram:AssociateResourceShare',
  'ram:CreateResourceShare',
  // The extensions aws_s3 and aws_lambda of PostgreSQL act with such a role.
  'rds:AddRoleTo*',
  'rds:CreateIntegration',
  'rds:ModifyDBClusterSnapshotAttribute',
  'rds:ModifyDBSnapshotAttribute',
  'rds:StartActivityStream',
  'rds:StartExportTask',
  's3:PutReplicationConfiguration',
  'sns:AddPermission',
  'transfer:*',
];

/** Copies of backups. A role that must make some is excepted here: `ArnNotLike` of `aws:PrincipalArn`. */
const backupCopies = [
  'backup:Copy*',
  'backup:PutBackupVaultAccessPolicy',
  'backup:StartCopyJob',
  'rds:CopyDBClusterSnapshot',
  'rds:CopyDBSnapshot',
];

const deny = (...statements: readonly Omit<Denial, 'Effect'>[]): PolicyDocument => ({
  Version: '2012-10-17',
  Statement: statements.map((statement) => ({ Effect: 'Deny', ...statement })),
});

/**
 * What nobody in the account may do, its root user included; not service-linked roles.
 * https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps.html
 *
 * Calls that the templates make are denied by a condition key:
 * https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
 */
export function serviceControlPolicy({ environment, account }: GuardedAccount): PolicyDocument {
  const { residencyRegions } = environment;
  return deny(
    {
      Sid: 'OutsideRegions',
      NotAction: [...globalServices, ...evidence],
      Resource: '*',
      Condition: { StringNotEquals: { 'aws:RequestedRegion': residencyRegions } },
    },
    { Sid: 'NeverCalled', Action: neverCalled, Resource: '*' },
    { Sid: 'BackupCopies', Action: backupCopies, Resource: '*' },
    {
      Sid: 'EnablingRegions',
      Action: ['account:EnableRegion'],
      Resource: '*',
      Condition: { StringNotEquals: { 'account:TargetRegion': residencyRegions } },
    },
    {
      // `ForAllValues` is true without a type: the default is an edge-optimized endpoint.
      Sid: 'EdgeEndpoints',
      Action: ['apigateway:POST'],
      Resource: ['arn:aws:apigateway:*::/restapis', 'arn:aws:apigateway:*::/domainnames'],
      Condition: {
        'ForAllValues:StringNotEquals': { 'apigateway:Request/EndpointType': ['PRIVATE', 'REGIONAL'] },
      },
    },
    {
      Sid: 'ChangesToEdge',
      Action: ['apigateway:PATCH', 'apigateway:PUT'],
      Resource: '*',
      Condition: { 'ForAnyValue:StringEquals': { 'apigateway:Request/EndpointType': 'EDGE' } },
    },
    {
      Sid: 'EventTargets',
      Action: ['events:PutTargets'],
      Resource: '*',
      Condition: {
        'ForAnyValue:ArnNotLike': {
          'events:TargetArn': residencyRegions.map((region) => `arn:aws:*:${region}:${account}:*`),
        },
      },
    },
    {
      Sid: 'MultiRegionKeys',
      Action: ['kms:CreateKey'],
      Resource: '*',
      Condition: { Bool: { 'kms:MultiRegion': 'true' } },
    },
    {
      Sid: 'FunctionInvokers',
      Action: ['lambda:AddPermission'],
      Resource: '*',
      Condition: { StringNotLike: { 'lambda:Principal': '*.amazonaws.com' } },
    },
    {
      Sid: 'SecretReplicas',
      Action: ['secretsmanager:CreateSecret', 'secretsmanager:ReplicateSecretToRegions'],
      Resource: '*',
      // https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets-permissions.html
      Condition: { Null: { 'secretsmanager:AddReplicaRegions': 'false' } },
    },
    {
      Sid: 'Subscriptions',
      Action: ['sns:Subscribe'],
      Resource: '*',
      Condition: { StringNotEquals: { 'sns:Protocol': ['email', 'lambda', 'sqs'] } },
    },
    {
      Sid: 'FirewallLogs',
      Action: ['wafv2:PutLoggingConfiguration'],
      Resource: '*',
      Condition: { ArnNotLike: { 'wafv2:LogDestinationResource': `arn:aws:logs:*:${account}:*` } },
    },
    {
      Sid: 'OtherAccounts',
      Action: ['lambda:InvokeFunction', 's3:PutObject', 'sns:Publish', 'sqs:SendMessage'],
      Resource: '*',
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
    Resource: '*',
    Condition: {
      StringNotEqualsIfExists: { 'aws:PrincipalOrgID': organization },
      BoolIfExists: { 'aws:PrincipalIsAWSService': 'false' },
    },
  });
