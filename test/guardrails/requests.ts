import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { parse } from 'yaml';
import { AccountStack } from '../../lib/account/account-stack';
import { readAccountSettings } from '../../lib/account/settings';
import { commandLineContext } from '../../lib/app';
import { backupRolePath, type Environment } from '../../lib/environment/schema';
import type { GuardedAccount } from '../../lib/guardrails/policies';
import { readDocuments } from '../support/documents';
import { environmentsWithEveryOption, synthesizeEveryStack, withTemporaryFolder } from '../support/stacks';
import type { Request } from './evaluator';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

export const account = '111122223333';
export const organization = 'o-abcdefghij';
export const guarded = (environment: Environment): GuardedAccount => ({ environment, account, organization });

/**
 * What CloudFormation calls for a resource type, by the `handlers` of its schema and their permissions, without those of
 * properties that no template has. https://github.com/cdklabs/awscdk-service-spec/tree/main/sources/CloudFormationSchema
 */
const handlers: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Account': 'apigateway:GET PATCH iam:PassRole',
  'AWS::ApiGateway::Authorizer': 'apigateway:GET POST PATCH DELETE',
  'AWS::ApiGateway::BasePathMapping': 'apigateway:GET POST PATCH DELETE',
  'AWS::ApiGateway::Deployment': 'apigateway:GET POST PATCH DELETE',
  'AWS::ApiGateway::DomainName': 'apigateway:GET POST PATCH PUT DELETE',
  'AWS::ApiGateway::GatewayResponse': 'apigateway:GET PUT PATCH DELETE',
  'AWS::ApiGateway::Method': 'apigateway:GET PUT PATCH DELETE',
  'AWS::ApiGateway::Resource': 'apigateway:GET POST PATCH DELETE',
  'AWS::ApiGateway::RestApi': 'apigateway:GET POST PATCH PUT DELETE UpdateRestApiPolicy',
  'AWS::ApiGateway::Stage': 'apigateway:GET POST PATCH PUT DELETE',
  'AWS::Backup::BackupPlan':
    'backup:CreateBackupPlan GetBackupPlan UpdateBackupPlan DeleteBackupPlan TagResource ListTags',
  'AWS::Backup::BackupSelection':
    'backup:CreateBackupSelection GetBackupSelection DeleteBackupSelection iam:GetRole CreateServiceLinkedRole',
  'AWS::Backup::BackupVault':
    'backup:CreateBackupVault DescribeBackupVault DeleteBackupVault TagResource ListTags backup-storage:MountCapsule kms:CreateGrant DescribeKey GenerateDataKey Decrypt RetireGrant',
  'AWS::Backup::LogicallyAirGappedBackupVault':
    'backup:CreateLogicallyAirGappedBackupVault DescribeBackupVault DeleteBackupVault TagResource ListTags backup-storage:MountCapsule kms:CreateGrant DescribeKey GenerateDataKey Decrypt RetireGrant',
  'AWS::Backup::RestoreTestingPlan':
    'backup:CreateRestoreTestingPlan GetRestoreTestingPlan UpdateRestoreTestingPlan DeleteRestoreTestingPlan TagResource ListTags iam:CreateServiceLinkedRole',
  'AWS::Backup::RestoreTestingSelection':
    'backup:CreateRestoreTestingSelection GetRestoreTestingSelection UpdateRestoreTestingSelection DeleteRestoreTestingSelection',
  'AWS::Budgets::Budget': 'budgets:ViewBudget ModifyBudget',
  'AWS::CertificateManager::Certificate':
    'acm:RequestCertificate DescribeCertificate DeleteCertificate AddTagsToCertificate UpdateCertificateOptions route53:ChangeResourceRecordSets',
  'AWS::CloudWatch::Alarm':
    'cloudwatch:PutMetricAlarm PutCompositeAlarm DescribeAlarms DeleteAlarms TagResource ListTagsForResource',
  'AWS::CloudWatch::CompositeAlarm': 'cloudwatch:PutCompositeAlarm DescribeAlarms DeleteAlarms TagResource',
  'AWS::CloudWatch::Dashboard': 'cloudwatch:GetDashboard ListDashboards PutDashboard DeleteDashboards',
  'AWS::EC2::EIP':
    'ec2:AllocateAddress ReleaseAddress DescribeAddresses AssociateAddress DisassociateAddress CreateTags',
  'AWS::EC2::FlowLog':
    'ec2:CreateFlowLogs DeleteFlowLogs DescribeFlowLogs CreateTags iam:PassRole logs:CreateLogDelivery DeleteLogDelivery',
  'AWS::EC2::InternetGateway':
    'ec2:CreateInternetGateway DeleteInternetGateway DescribeInternetGateways CreateTags',
  'AWS::EC2::NatGateway': 'ec2:CreateNatGateway DeleteNatGateway DescribeNatGateways CreateTags',
  'AWS::EC2::Route': 'ec2:CreateRoute DeleteRoute ReplaceRoute DescribeRouteTables',
  'AWS::EC2::RouteTable': 'ec2:CreateRouteTable DeleteRouteTable DescribeRouteTables CreateTags',
  'AWS::EC2::SecurityGroup':
    'ec2:CreateSecurityGroup DeleteSecurityGroup DescribeSecurityGroups AuthorizeSecurityGroupEgress RevokeSecurityGroupEgress CreateTags',
  'AWS::EC2::SecurityGroupIngress':
    'ec2:AuthorizeSecurityGroupIngress RevokeSecurityGroupIngress DescribeSecurityGroupRules',
  'AWS::EC2::Subnet':
    'ec2:CreateSubnet DeleteSubnet ModifySubnetAttribute DescribeSubnets CreateTags DescribeNetworkAcls',
  'AWS::EC2::SubnetRouteTableAssociation':
    'ec2:AssociateRouteTable DisassociateRouteTable DescribeRouteTables',
  'AWS::EC2::VPC': 'ec2:CreateVpc DeleteVpc ModifyVpcAttribute DescribeVpcs DescribeVpcAttribute CreateTags',
  'AWS::EC2::VPCEndpoint':
    'ec2:CreateVpcEndpoint DeleteVpcEndpoints ModifyVpcEndpoint DescribeVpcEndpoints CreateTags',
  'AWS::EC2::VPCGatewayAttachment':
    'ec2:AttachInternetGateway DetachInternetGateway DescribeInternetGateways',
  'AWS::ECR::Repository':
    'ecr:CreateRepository DeleteRepository DescribeRepositories PutLifecyclePolicy SetRepositoryPolicy PutImageTagMutability PutImageScanningConfiguration TagResource',
  'AWS::Events::Rule':
    'events:PutRule DescribeRule DeleteRule PutTargets RemoveTargets ListTargetsByRule TagResource iam:PassRole',
  'AWS::IAM::OIDCProvider':
    'iam:CreateOpenIDConnectProvider GetOpenIDConnectProvider UpdateOpenIDConnectProviderThumbprint DeleteOpenIDConnectProvider',
  'AWS::IAM::ManagedPolicy': 'iam:CreatePolicy GetPolicy CreatePolicyVersion DeletePolicy',
  'AWS::IAM::Policy': 'iam:PutRolePolicy GetRolePolicy DeleteRolePolicy',
  'AWS::IAM::Role':
    'iam:CreateRole GetRole UpdateRole DeleteRole PutRolePolicy AttachRolePolicy TagRole PassRole',
  'AWS::KMS::Alias': 'kms:CreateAlias ListAliases UpdateAlias DeleteAlias',
  'AWS::KMS::Key':
    'kms:CreateKey DescribeKey PutKeyPolicy GetKeyPolicy EnableKeyRotation GetKeyRotationStatus TagResource ListResourceTags ScheduleKeyDeletion',
  'AWS::Lambda::EventSourceMapping':
    'lambda:CreateEventSourceMapping GetEventSourceMapping UpdateEventSourceMapping DeleteEventSourceMapping TagResource',
  'AWS::Lambda::Function':
    'lambda:CreateFunction GetFunction UpdateFunctionCode UpdateFunctionConfiguration DeleteFunction PutFunctionConcurrency TagResource iam:PassRole s3:GetObject ec2:DescribeSubnets',
  'AWS::Lambda::Permission': 'lambda:AddPermission GetPolicy RemovePermission',
  'AWS::Logs::LogGroup':
    'logs:CreateLogGroup DescribeLogGroups DeleteLogGroup PutRetentionPolicy AssociateKmsKey TagResource PutDataProtectionPolicy PutIndexPolicy',
  'AWS::Logs::MetricFilter': 'logs:PutMetricFilter DescribeMetricFilters DeleteMetricFilter',
  'AWS::RDS::DBCluster':
    'rds:CreateDBCluster DescribeDBClusters ModifyDBCluster DeleteDBCluster CreateDBClusterSnapshot RestoreDBClusterFromSnapshot RestoreDBClusterToPointInTime DescribeDBClusterSnapshots AddTagsToResource EnableHttpEndpoint RemoveFromGlobalCluster DescribeGlobalClusters CrossRegionCommunication iam:CreateServiceLinkedRole kms:CreateGrant DescribeKey ec2:DescribeSecurityGroups',
  'AWS::RDS::DBClusterParameterGroup':
    'rds:CreateDBClusterParameterGroup DescribeDBClusterParameterGroups ModifyDBClusterParameterGroup DeleteDBClusterParameterGroup DescribeDBClusterParameters',
  'AWS::RDS::DBInstance':
    'rds:CreateDBInstance DescribeDBInstances ModifyDBInstance RebootDBInstance DeleteDBInstance AddTagsToResource DescribeEvents kms:CreateGrant DescribeKey',
  'AWS::RDS::DBSubnetGroup':
    'rds:CreateDBSubnetGroup DescribeDBSubnetGroups ModifyDBSubnetGroup DeleteDBSubnetGroup',
  'AWS::RDS::GlobalCluster':
    'rds:CreateGlobalCluster DescribeGlobalClusters ModifyGlobalCluster DeleteGlobalCluster RemoveFromGlobalCluster',
  'AWS::Route53::RecordSet': 'route53:ChangeResourceRecordSets GetChange ListResourceRecordSets',
  'AWS::S3::Bucket':
    's3:CreateBucket DeleteBucket PutBucketVersioning PutEncryptionConfiguration PutBucketPublicAccessBlock PutLifecycleConfiguration PutBucketTagging ListBucket',
  'AWS::S3::BucketPolicy': 's3:PutBucketPolicy GetBucketPolicy DeleteBucketPolicy',
  'AWS::SNS::Subscription': 'sns:Subscribe GetSubscriptionAttributes SetSubscriptionAttributes Unsubscribe',
  'AWS::SNS::Topic': 'sns:CreateTopic GetTopicAttributes SetTopicAttributes DeleteTopic TagResource',
  'AWS::SNS::TopicPolicy': 'sns:SetTopicAttributes',
  'AWS::SQS::Queue': 'sqs:CreateQueue GetQueueUrl GetQueueAttributes SetQueueAttributes DeleteQueue TagQueue',
  'AWS::SQS::QueuePolicy': 'sqs:SetQueueAttributes GetQueueUrl',
  'AWS::SSM::Parameter': 'ssm:PutParameter GetParameters DeleteParameter AddTagsToResource',
  'AWS::SecretsManager::Secret':
    'secretsmanager:CreateSecret DescribeSecret GetRandomPassword UpdateSecret DeleteSecret TagResource',
  'AWS::SecretsManager::SecretTargetAttachment':
    'secretsmanager:GetSecretValue PutSecretValue DescribeSecret rds:DescribeDBClusters',
  'AWS::WAFv2::LoggingConfiguration':
    'wafv2:PutLoggingConfiguration GetLoggingConfiguration DeleteLoggingConfiguration logs:CreateLogDelivery DeleteLogDelivery PutResourcePolicy DescribeResourcePolicies DescribeLogGroups iam:CreateServiceLinkedRole',
  'AWS::WAFv2::WebACL': 'wafv2:CreateWebACL GetWebACL UpdateWebACL DeleteWebACL TagResource',
  'AWS::WAFv2::WebACLAssociation': 'wafv2:AssociateWebACL DisassociateWebACL GetWebACLForResource',
  'Custom::SchemaMigration': 'lambda:InvokeFunction',
  'Custom::SigningKeySet': 'lambda:InvokeFunction',
  'Custom::VpcRestrictDefaultSG': 'lambda:InvokeFunction',
};

/** `service:Action Action service:Action`, as lists are written here and in docs/operating.md. */
function readActions(text: string): readonly string[] {
  let service = '';
  return text.split(' ').map((word) => {
    if (!word.includes(':')) return `${service}:${word}`;
    service = word.slice(0, word.indexOf(':'));
    return word;
  });
}

/** Have one endpoint, in us-east-1. */
const isGlobal = (action: string) => /^(account|budgets|iam|organizations|route53):/.test(action);

/** A request of the account's principals, to its own resources. */
export const requestIn = (region: string, action: string, more: Request['context'] = {}): Request => ({
  action,
  context: {
    'aws:RequestedRegion': isGlobal(action) ? 'us-east-1' : region,
    'aws:ResourceAccount': account,
    'aws:PrincipalOrgID': organization,
    'aws:PrincipalIsAWSService': 'false',
    ...more,
  },
});

/** Values of the condition keys that a resource's properties decide. */
function contextOf(action: string, properties: Json, region: string): Request['context'] {
  const arn = (service: string) => `arn:aws:${service}:${region}:${account}:own`;
  const endpoints = { 'apigateway:Request/EndpointType': properties.EndpointConfiguration?.Types };
  switch (action) {
    case 'apigateway:POST':
    case 'apigateway:PATCH':
      return properties.EndpointConfiguration ? endpoints : {};
    case 'events:PutTargets':
      return { 'events:TargetArn': properties.Targets.map(() => arn('lambda')) };
    case 'kms:CreateKey':
      return { 'kms:MultiRegion': String(properties.MultiRegion ?? false) };
    case 'lambda:AddPermission':
      return { 'lambda:Principal': properties.Principal };
    case 'secretsmanager:CreateSecret':
      return properties.ReplicaRegions
        ? { 'secretsmanager:AddReplicaRegions': properties.ReplicaRegions }
        : {};
    case 'sns:Subscribe':
      return { 'sns:Protocol': properties.Protocol };
    case 'wafv2:PutLoggingConfiguration':
      return { 'wafv2:LogDestinationResource': arn('logs') };
    default:
      return {};
  }
}

/** The paths of API Gateway's collections, whose permission is for a method of HTTP. */
const collections: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::DomainName': 'domainnames',
  'AWS::ApiGateway::RestApi': 'restapis',
};

/** What CloudFormation does for a template. @throws Error for a type without a row above */
function requestsOfTemplate({ Resources }: Json, region: string): readonly Request[] {
  return Object.values<Json>(Resources).flatMap(({ Type, Properties = {} }) => {
    const actions = handlers[Type];
    if (actions === undefined) throw new Error(`Add to the handlers what CloudFormation calls for ${Type}.`);
    return readActions(actions).map((action) => ({
      ...requestIn(region, action, contextOf(action, Properties, region)),
      ...(collections[Type] &&
        action === 'apigateway:POST' && { resource: `arn:aws:apigateway:${region}::/${collections[Type]}` }),
    }));
  });
}

/** What the roles of a template may do. A wildcard stands for nothing: `s3:GetObject*` for `s3:GetObject`. */
function requestsOfRoles({ Resources }: Json, region: string): readonly Request[] {
  return Object.values<Json>(Resources)
    .filter(({ Type }) => /^AWS::IAM::(Policy|Role)$/.test(Type))
    .flatMap(({ Properties: { PolicyDocument, Policies = [], Roles = [] } }) => {
      const documents = [
        ...(PolicyDocument ? [PolicyDocument] : []),
        ...Policies.map((policy: Json) => policy.PolicyDocument),
      ];
      // The guardrails except a role by its path.
      const [{ Ref = undefined } = {}] = Roles;
      const path = Resources[Ref]?.Properties.Path;
      return documents
        .flatMap(({ Statement }) => Statement)
        .filter(({ Effect, Sid }) => Effect === 'Allow' && !/^PipelineCrossAccount/.test(Sid))
        .flatMap(({ Action }) => [Action].flat())
        .map((action) => requestIn(region, action.replaceAll('*', ''), path ? by(`${path}made`) : {}));
    });
}
const by = (role: string) => ({ 'aws:PrincipalArn': `arn:aws:iam::${account}:role${role}` });

const bootstrapTemplate = parse(
  readFileSync('node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml', 'utf8'),
);

/** The account stack, in a region of the environment. */
function accountTemplate({ name, region }: Environment): Json {
  const context: Readonly<Record<string, string>> = {
    ...{ environments: name, repository: 'owner/name', budget: '500', email: 'on-call@example.com' },
    // Where CloudFormation has budgets. In another region it is deployed before the policies are attached.
    ...(region === 'me-central-1' && { region: 'eu-central-1' }),
  };
  return withTemporaryFolder((outdir) => {
    const app = new App({ outdir, context: commandLineContext(), builtinCloudFormationValidation: false });
    new AccountStack(
      app,
      readAccountSettings((key) => context[key]),
    );
    return JSON.parse(
      readFileSync(app.synth().getStackByName(AccountStack.stackId).templateFullPath, 'utf8'),
    );
  });
}

const prefixes: Readonly<Record<string, string>> = { 'service-quotas': 'servicequotas', s3api: 's3' };

/** AWS's own commands in the documents, but for those that the management account runs. */
const commandsInDocuments = readDocuments()
  .filter(({ path }) => path !== 'docs/guardrails.md')
  .flatMap(({ text }) => [
    ...text.matchAll(/\baws ([a-z0-9-]+) (?!wait\b|login\b)([a-z]+(?:-[a-z]+)+|invoke)\b/g),
  ])
  .map(([, service = '', command = '']) => {
    const action = command === 'invoke' ? 'InvokeFunction' : command.replaceAll('-', '');
    return `${prefixes[service] ?? service}:${action}`;
  });

/** The permissions of commands that docs/operating.md lists. */
const [, permissions = ''] = readFileSync('docs/operating.md', 'utf8').split('## IAM permissions');
const commandPermissions = Array.from(
  (permissions.split('\n## ')[0] ?? '').matchAll(/`(\w[\w-]*:[A-Z]\w+)`((?:, `[A-Z]\w+`)*)/g),
  ([, first = '', others = '']) => readActions([first, ...others.matchAll(/[A-Z]\w+/g)].join(' ')),
).flat();

const enabling = (region: string) => ({ 'account:TargetRegion': region });

/** All that deployment, operation and CloudFormation do in an environment's account, each request once. */
export function allowedIn(environment: Environment): readonly Request[] {
  const { region, residencyRegions } = environment;
  const [row] = environmentsWithEveryOption().filter(({ name }) => name === environment.name);
  const stacks = Object.values(synthesizeEveryStack([environment, ...(row ? [row] : [])]));
  const roles = accountTemplate(environment);
  const requests = [
    ...stacks.flatMap(({ json, manifest }) => {
      const place = manifest.environment.split('/').at(-1);
      return [...requestsOfTemplate(json, place), ...requestsOfRoles(json, place)];
    }),
    ...requestsOfTemplate(roles, region),
    ...requestsOfRoles(roles, region),
    ...residencyRegions.flatMap((place) => [
      ...requestsOfTemplate(bootstrapTemplate, place),
      ...requestsOfRoles(bootstrapTemplate, place),
    ]),
    ...[...commandsInDocuments, ...commandPermissions].map((action) =>
      requestIn(region, action, {
        ...(action === 'account:enableregion' && enabling(region)),
        ...(action === 'sns:subscribe' && { 'sns:Protocol': 'email' }),
      }),
    ),
    ...readActions(copies).map((action) =>
      requestIn(region, action, by(`${backupRolePath(environment)}made`)),
    ),
    {
      ...requestIn(region, 'iam:PassRole', { 'iam:PassedToService': 'backup.amazonaws.com' }),
      resource: backupRole(environment.stackId),
    },
    ...readActions(globalReads).map((action) => requestIn('us-east-1', action)),
    ...readActions(evidence).map((action) => requestIn('sa-east-1', action)),
  ];
  return [...new Map(requests.map((request) => [JSON.stringify(request), request])).values()];
}

/** What people do with global services: bills, support, sign-in; one of each exempted action. */
const globalReads =
  'account:ListRegions aws-portal:ViewBilling billing:GetBillingData budgets:ViewBudget ce:GetCostAndUsage cloudtrail:LookupEvents consolidatedbilling:GetAccountBillingRole cur:DescribeReportDefinitions ec2:DescribeRegions freetier:GetAccountPlanState health:DescribeEvents iam:GetRole invoicing:ListInvoiceSummaries organizations:DescribeOrganization payments:ListPaymentPreferences pricing:GetProducts ram:AcceptResourceShareInvitation GetResourceShareInvitations route53:ListHostedZones route53domains:ListDomains s3:GetAccountPublicAccessBlock s3:GetBucketLocation s3:ListAllMyBuckets savingsplans:DescribeSavingsPlans shield:DescribeSubscription sso:ListInstances sts:GetCallerIdentity support:CreateCase supportplans:GetSupportPlan tax:GetTaxRegistration trustedadvisor:DescribeChecks';
const evidence = 'rds:DescribeDBClusterSnapshots tag:GetResources';

/** Ways out, by one call of each. */
const waysOut =
  'appflow:CreateFlow backup:AssociateBackupVaultMpaApprovalTeam CopyFromBackupVault PutBackupVaultAccessPolicy StartCopyJob cloudfront:CreateDistribution cloudwatch:PutMetricStream datasync:CreateTask dms:CreateReplicationTask ec2:AcceptVpcPeeringConnection CopySnapshot CreateEgressOnlyInternetGateway CreateTrafficMirrorSession CreateTransitGatewayVpcAttachment CreateVpcEndpointServiceConfiguration CreateVpcPeeringConnection CreateVpnConnection ExportImage ModifyImageAttribute ModifySnapshotAttribute ecr-public:CreateRepository ecr:PutReplicationConfiguration events:CreateApiDestination CreateConnection CreateEndpoint PutPermission firehose:CreateDeliveryStream globalaccelerator:CreateAccelerator kms:ReplicateKey lambda:AddLayerVersionPermission CreateFunctionUrlConfig logs:CreateDelivery CreateExportTask PutAccountPolicy PutDestinationPolicy PutSubscriptionFilter oam:CreateLink organizations:LeaveOrganization ram:AssociateResourceShare CreateResourceShare rds:AddRoleToDBCluster CopyDBClusterSnapshot CopyDBSnapshot CreateIntegration ModifyDBClusterSnapshotAttribute ModifyDBSnapshotAttribute StartActivityStream StartExportTask s3:PutReplicationConfiguration sns:AddPermission transfer:CreateServer';

/** What AWS Backup does with its role, and nobody else. */
const copies =
  'backup:CopyFromBackupVault CopyIntoBackupVault rds:CopyDBClusterSnapshot ModifyDBClusterSnapshotAttribute';
const backupRole = (stackId: string) => `arn:aws:iam::${account}:role${backupRolePath({ stackId })}made`;

type Row = readonly [wayOut: string, request: Request];

/** What the service control policy must refuse. */
export function refusedIn({ region, stackId }: Environment): readonly Row[] {
  const inRegion = (wayOut: string, action: string, context: Request['context'], resource?: string): Row => [
    wayOut,
    { ...requestIn(region, action, context), ...(resource && { resource }) },
  ];
  const edge = { 'apigateway:Request/EndpointType': ['EDGE'] };
  const outside = 'sa-east-1';
  const lambda = (place: string, of: string) => `arn:aws:lambda:${place}:${of}:function:any`;
  const foreign = { 'aws:ResourceAccount': '999999999999' };
  return [
    ...readActions(waysOut).map((action): Row => [action, requestIn(region, action)]),
    ...readActions(
      'rds:CreateDBCluster CopyDBClusterSnapshot s3:CreateBucket kms:CreateKey ec2:DescribeVpcs',
    ).map((action): Row => [`${action} outside the regions`, requestIn(outside, action)]),
    ...readActions(copies).flatMap((action) => [
      inRegion(`${action} by another role`, action, by(`/${stackId}/AirGappedBackups2/made`)),
      inRegion(`${action} by a role of that path elsewhere`, action, {
        'aws:PrincipalArn': `arn:aws:iam::999999999999:role${backupRolePath({ stackId })}made`,
      }),
    ]),
    inRegion('the backup role taken on', 'sts:AssumeRole', {}, backupRole(stackId)),
    ...['lambda.amazonaws.com', 'ec2.amazonaws.com', ''].map((service) =>
      inRegion(
        `the backup role passed to ${service || 'anything'}`,
        'iam:PassRole',
        service ? { 'iam:PassedToService': service } : {},
        backupRole(stackId),
      ),
    ),
    inRegion('another region enabled', 'account:EnableRegion', enabling(outside)),
    ...['restapis', 'domainnames'].flatMap((path) => [
      inRegion(`${path} by default`, 'apigateway:POST', {}, `arn:aws:apigateway:${region}::/${path}`),
      inRegion(`${path} at the edge`, 'apigateway:POST', edge, `arn:aws:apigateway:${region}::/${path}`),
    ]),
    inRegion('an API changed to the edge', 'apigateway:PATCH', edge),
    inRegion('an API replaced by one at the edge', 'apigateway:PUT', edge),
    inRegion('events to a region', 'events:PutTargets', {
      'events:TargetArn': [lambda(region, account), lambda(outside, account)],
    }),
    inRegion('events to an account', 'events:PutTargets', {
      'events:TargetArn': [lambda(region, '999999999999')],
    }),
    inRegion('a multi-Region key', 'kms:CreateKey', { 'kms:MultiRegion': 'true' }),
    inRegion('a function for an account', 'lambda:AddPermission', { 'lambda:Principal': '999999999999' }),
    inRegion('a function for everybody', 'lambda:AddPermission', { 'lambda:Principal': '*' }),
    ...['CreateSecret', 'ReplicateSecretToRegions'].map((action) =>
      inRegion(`replicas by ${action}`, `secretsmanager:${action}`, {
        'secretsmanager:AddReplicaRegions': [outside],
      }),
    ),
    inRegion('a topic to https', 'sns:Subscribe', { 'sns:Protocol': 'https' }),
    inRegion('firewall logs to a bucket', 'wafv2:PutLoggingConfiguration', {
      'wafv2:LogDestinationResource': 'arn:aws:s3:::aws-waf-logs-any',
    }),
    inRegion("firewall logs to an account's", 'wafv2:PutLoggingConfiguration', {
      'wafv2:LogDestinationResource': `arn:aws:logs:${region}:999999999999:log-group:any`,
    }),
    ...readActions('lambda:InvokeFunction s3:PutObject sns:Publish sqs:SendMessage').map((action) =>
      inRegion(`${action} in another account`, action, foreign),
    ),
  ];
}

/** Uses of the resources that the resource control policy is for. */
const uses = 'kms:Decrypt s3:GetObject secretsmanager:GetSecretValue sqs:ReceiveMessage sts:AssumeRole';
const usesBy = (principal: string, context: NonNullable<Request['context']>) =>
  readActions(uses).map((action): Row => [`${action} by ${principal}`, { action, context }]);

export const usesAllowed: readonly Row[] = [
  ...usesBy('a principal of the organization', {
    'aws:PrincipalOrgID': organization,
    'aws:PrincipalIsAWSService': 'false',
  }),
  ...usesBy('a service of AWS', { 'aws:PrincipalIsAWSService': 'true' }),
  ['a token of GitHub', { action: 'sts:AssumeRoleWithWebIdentity', context: {} }],
];

export const usesRefused: readonly Row[] = [
  ...usesBy('another organization', {
    'aws:PrincipalOrgID': 'o-another0000',
    'aws:PrincipalIsAWSService': 'false',
  }),
  ...usesBy('an account without one', { 'aws:PrincipalIsAWSService': 'false' }),
  ...usesBy('anybody', {}),
];
