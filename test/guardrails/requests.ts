import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { backupRolePath, type Environment } from '../../lib/environment/schema';
import type { GuardedAccount } from '../../lib/guardrails/policies';
import { permissionsOf, readActions } from '../constructs/documented-permissions';
import { readDocuments } from '../support/documents';
import { withEveryOption } from '../support/rows';
import { synthesizeEveryStack } from '../support/stacks';
import type { Request } from './evaluator';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

export const account = '111122223333';
export const organization = 'o-abcdefghij';
export const guarded = (environment: Environment): GuardedAccount => ({ environment, account, organization });

/**
 * What CloudFormation calls for the types of the templates, the account stack and the CDK's bootstrap, beside `Create…`, `Update…`,
 * `Modify…`, `Delete…` and `Describe…s` with a type's name: by the `handlers` of their schemas, without those of properties that no
 * template has. https://github.com/cdklabs/awscdk-service-spec/tree/main/sources/CloudFormationSchema
 */
const handlers = readActions(`
  acm:RequestCertificate UpdateCertificateOptions apigateway:GET POST DELETE UpdateRestApiPolicy
  backup:GetBackupPlan ListTags TagResource backup-storage:MountCapsule budgets:ModifyBudget ViewBudget
  cloudwatch:PutCompositeAlarm PutDashboard PutMetricAlarm
  ec2:AllocateAddress AssociateAddress AssociateRouteTable AttachInternetGateway AuthorizeSecurityGroupEgress
  AuthorizeSecurityGroupIngress CreateFlowLogs CreateTags CreateVpcEndpoint DescribeAddresses ModifySubnetAttribute
  ModifyVpcAttribute ReleaseAddress ReplaceRoute ecr:PutImageTagMutability PutLifecyclePolicy SetRepositoryPolicy
  events:PutRule RemoveTargets TagResource iam:CreateOpenIDConnectProvider CreateServiceLinkedRole PassRole PutRolePolicy
  kms:CreateGrant Decrypt DescribeKey EnableKeyRotation GenerateDataKey PutKeyPolicy ScheduleKeyDeletion TagResource
  lambda:GetPolicy InvokeFunction RemovePermission UpdateFunctionCode UpdateFunctionConfiguration
  logs:AssociateKmsKey CreateLogDelivery DescribeResourcePolicies PutDataProtectionPolicy PutIndexPolicy PutMetricFilter
  PutResourcePolicy PutRetentionPolicy rds:AddTagsToResource CreateDBClusterSnapshot CrossRegionCommunication
  DescribeEvents EnableHttpEndpoint RebootDBInstance RemoveFromGlobalCluster RestoreDBClusterFromSnapshot
  RestoreDBClusterToPointInTime route53:ChangeResourceRecordSets GetChange s3:GetObject PutBucketPolicy
  PutBucketPublicAccessBlock PutBucketVersioning PutEncryptionConfiguration PutLifecycleConfiguration
  secretsmanager:GetRandomPassword GetSecretValue PutSecretValue TagResource sns:SetTopicAttributes TagResource
  sqs:SetQueueAttributes TagQueue ssm:GetParameters PutParameter wafv2:AssociateWebACL TagResource`);

/** Have one endpoint, in us-east-1. */
const isGlobal = (action: string) => /^(account|budgets|iam|organizations|route53):/.test(action);

/** A request of the account's principals, to its own resources. */
const requestIn = (region: string, action: string, more: Request['context'] = {}): Request => ({
  action,
  context: {
    'aws:RequestedRegion': isGlobal(action) ? 'us-east-1' : region,
    'aws:ResourceAccount': account,
    'aws:PrincipalOrgID': organization,
    'aws:PrincipalIsAWSService': 'false',
    ...more,
  },
});

/** The calls for a type whose condition keys a policy compares: with the values of a resource. */
const bound: Readonly<Record<string, (properties: Json, own: string) => [actions: string, context: Json]>> = {
  'AWS::Events::Rule': (_, own) => ['events:PutTargets', { 'events:TargetArn': [own] }],
  'AWS::KMS::Key': ({ MultiRegion = false }) => ['kms:CreateKey', { 'kms:MultiRegion': `${MultiRegion}` }],
  // `ReplicateKey` in the primary's region, and `CreateKey` in its own.
  'AWS::KMS::ReplicaKey': ({ PrimaryKeyArn }, own) => [
    'kms:ReplicateKey CreateKey',
    {
      'aws:RequestedRegion': PrimaryKeyArn.split(':')[3],
      ...{ 'kms:MultiRegion': 'true', 'kms:ReplicaRegion': own.split(':')[3] },
    },
  ],
  'AWS::Lambda::Permission': ({ Principal }) => ['lambda:AddPermission', { 'lambda:Principal': Principal }],
  'AWS::SNS::Subscription': ({ Protocol }) => ['sns:Subscribe', { 'sns:Protocol': Protocol }],
  'AWS::WAFv2::LoggingConfiguration': (_, own) => [
    'wafv2:PutLoggingConfiguration',
    { 'wafv2:LogDestinationResource': own.replace('lambda', 'logs') },
  ],
};

/** The paths of API Gateway's collections, whose permission is for a method of HTTP. */
const collections: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::DomainName': 'domainnames',
  'AWS::ApiGateway::RestApi': 'restapis',
};

/** What CloudFormation does for a resource of a template. */
function requestsFor({ Type, Properties = {} }: Json, region: string): readonly Request[] {
  const [, service = '', name = ''] = Type.split('::');
  const derived = readActions(
    `${service.toLowerCase()}:Create${name} Update${name} Modify${name} Delete${name} Describe${name}s`,
  );
  const [actions, context] = bound[Type]?.(Properties, `arn:aws:lambda:${region}:${account}:own`) ?? [''];
  const endpoint = { 'apigateway:Request/EndpointType': Properties.EndpointConfiguration?.Types };
  return [
    ...derived.map((action) => requestIn(region, action)),
    ...readActions(actions).map((action) => requestIn(region, action, context)),
    ...(collections[Type] ? ['POST', 'PATCH', 'PUT'] : []).map((method) => ({
      ...requestIn(region, `apigateway:${method}`, endpoint),
      resource: `arn:aws:apigateway:${region}::/${collections[Type]}`,
    })),
  ];
}

/** What the roles of a template may do. A wildcard stands for nothing: `s3:GetObject*` for `s3:GetObject`. */
function requestsOfRoles({ Resources }: Json, region: string): readonly Request[] {
  return Object.values<Json>(Resources)
    .filter(({ Type }) => /^AWS::IAM::(Policy|Role)$/.test(Type))
    .flatMap(({ Properties: { PolicyDocument, Policies = [], Roles = [] } }) => {
      const documents = [
        PolicyDocument ?? [],
        ...Policies.map((policy: Json) => policy.PolicyDocument),
      ].flat();
      // The guardrails except a role by its path.
      const [{ Ref = undefined } = {}] = Roles;
      const path = Resources[Ref]?.Properties.Path;
      return documents
        .flatMap(({ Statement }) => Statement)
        .filter(({ Effect, Sid }) => Effect === 'Allow' && !/^PipelineCrossAccount/.test(Sid))
        .flatMap(({ Action }) => Action)
        .map((action) => requestIn(region, action.replaceAll('*', ''), path ? by(`${path}made`) : {}));
    });
}
const by = (role: string) => ({ 'aws:PrincipalArn': `arn:aws:iam::${account}:role${role}` });

const bootstrapTemplate = parse(
  readFileSync('node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml', 'utf8'),
);

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

const enabling = (region: string) => ({ 'account:TargetRegion': region });

/** All that deployment, operation and CloudFormation do in an environment's account, each request once. */
export function allowedIn(environment: Environment): readonly Request[] {
  const { region, residencyRegions, stackId } = environment;
  const stacks = Object.values(synthesizeEveryStack([withEveryOption(environment)]));
  const templates = [
    ...stacks.map(({ json, manifest }) => [json, manifest.environment.split('/').at(-1)]),
    ...residencyRegions.map((place) => [bootstrapTemplate, place]),
  ];
  const requests = [
    ...templates.flatMap(([template, place]) => [
      ...Object.values(template.Resources).flatMap((resource) => requestsFor(resource, place)),
      ...requestsOfRoles(template, place),
    ]),
    ...[...handlers, ...commandsInDocuments, ...permissionsOf()].map((action) =>
      requestIn(region, action, {
        ...(action === 'account:enableregion' && enabling(region)),
        ...(action === 'kms:updateprimaryregion' && { 'kms:PrimaryRegion': region }),
        ...(action === 'sns:subscribe' && { 'sns:Protocol': 'email' }),
      }),
    ),
    ...readActions(copies).map((action) =>
      requestIn(region, action, by(`${backupRolePath({ stackId })}made`)),
    ),
    {
      ...requestIn(region, 'iam:PassRole', { 'iam:PassedToService': 'backup.amazonaws.com' }),
      resource: backupRole(stackId),
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
  'appflow:CreateFlow backup:AssociateBackupVaultMpaApprovalTeam CopyFromBackupVault PutBackupVaultAccessPolicy StartCopyJob cloudfront:CreateDistribution cloudwatch:PutMetricStream datasync:CreateTask dms:CreateReplicationTask ec2:AcceptVpcPeeringConnection CopySnapshot CreateEgressOnlyInternetGateway CreateTrafficMirrorSession CreateTransitGatewayVpcAttachment CreateVpcEndpointServiceConfiguration CreateVpcPeeringConnection CreateVpnConnection ExportImage ModifyImageAttribute ModifySnapshotAttribute ecr-public:CreateRepository ecr:PutReplicationConfiguration events:CreateApiDestination CreateConnection CreateEndpoint PutPermission firehose:CreateDeliveryStream globalaccelerator:CreateAccelerator lambda:AddLayerVersionPermission CreateFunctionUrlConfig logs:CreateDelivery CreateExportTask PutAccountPolicy PutDestinationPolicy PutSubscriptionFilter oam:CreateLink organizations:LeaveOrganization ram:AssociateResourceShare CreateResourceShare rds:AddRoleToDBCluster CopyDBClusterSnapshot CopyDBSnapshot CreateIntegration ModifyDBClusterSnapshotAttribute ModifyDBSnapshotAttribute StartActivityStream StartExportTask s3:PutReplicationConfiguration sns:AddPermission transfer:CreateServer';

/** What AWS Backup does with its role, and nobody else. */
const copies =
  'backup:CopyFromBackupVault CopyIntoBackupVault rds:CopyDBClusterSnapshot ModifyDBClusterSnapshotAttribute';
const backupRole = (stackId: string) => `arn:aws:iam::${account}:role${backupRolePath({ stackId })}made`;

/** What the service control policy must refuse. */
export function refusedIn({ region, stackId, multiRegionKeys }: Environment): readonly Request[] {
  const calls = (actions: string, context: Request['context'] = {}, resource?: string): readonly Request[] =>
    readActions(actions).map((action) => ({
      ...requestIn(region, action, context),
      ...(resource && { resource }),
    }));
  const [outside, other] = ['sa-east-1', '999999999999'];
  const edge = { 'apigateway:Request/EndpointType': ['EDGE'] };
  const lambda = (place: string, of: string) => `arn:aws:lambda:${place}:${of}:function:any`;
  const collection = (path: string) => `arn:aws:apigateway:${region}::/${path}`;
  const replicas = { 'secretsmanager:AddReplicaRegions': [outside] };
  return [
    ...calls(waysOut),
    ...calls('rds:CreateDBCluster s3:CreateBucket ec2:DescribeVpcs', { 'aws:RequestedRegion': outside }),
    ...calls(copies, by(`/${stackId}/AirGappedBackups2/made`)),
    ...calls(copies, { 'aws:PrincipalArn': backupRole(stackId).replace(account, other) }),
    ...calls('sts:AssumeRole iam:PassRole', {}, backupRole(stackId)),
    ...calls('iam:PassRole', { 'iam:PassedToService': 'lambda.amazonaws.com' }, backupRole(stackId)),
    ...calls('account:EnableRegion', enabling(outside)),
    ...['restapis', 'domainnames'].flatMap((path) => [
      // The default is an endpoint at the edge.
      ...calls('apigateway:POST', {}, collection(path)),
      ...calls('apigateway:POST', edge, collection(path)),
    ]),
    ...calls('apigateway:PATCH PUT', edge),
    ...calls('events:PutTargets', {
      'events:TargetArn': [lambda(region, account), lambda(outside, account)],
    }),
    ...calls('events:PutTargets', { 'events:TargetArn': [lambda(region, other)] }),
    ...calls('kms:ReplicateKey', { 'kms:ReplicaRegion': outside }),
    ...(multiRegionKeys
      ? calls('kms:UpdatePrimaryRegion', { 'kms:PrimaryRegion': outside })
      : [
          ...calls('kms:ReplicateKey', { 'kms:ReplicaRegion': region }),
          ...calls('kms:CreateKey', { 'kms:MultiRegion': 'true' }),
        ]),
    ...[other, '*'].flatMap((invoker) => calls('lambda:AddPermission', { 'lambda:Principal': invoker })),
    ...calls('secretsmanager:CreateSecret ReplicateSecretToRegions', replicas),
    ...calls('sns:Subscribe', { 'sns:Protocol': 'https' }),
    ...['arn:aws:s3:::aws-waf-logs-any', `arn:aws:logs:${region}:${other}:log-group:any`].flatMap((log) =>
      calls('wafv2:PutLoggingConfiguration', { 'wafv2:LogDestinationResource': log }),
    ),
    ...calls('lambda:InvokeFunction s3:PutObject sns:Publish sqs:SendMessage', {
      'aws:ResourceAccount': other,
    }),
  ];
}

/** Uses of the resources that the resource control policy is for. */
const usesBy = (context: NonNullable<Request['context']>): readonly Request[] =>
  readActions('kms:Decrypt s3:GetObject secretsmanager:GetSecretValue sqs:ReceiveMessage sts:AssumeRole').map(
    (action) => ({ action, context }),
  );

export const usesAllowed: readonly Request[] = [
  ...usesBy({ 'aws:PrincipalOrgID': organization, 'aws:PrincipalIsAWSService': 'false' }),
  ...usesBy({ 'aws:PrincipalIsAWSService': 'true' }),
  // A token of GitHub.
  { action: 'sts:AssumeRoleWithWebIdentity' },
];

export const usesRefused: readonly Request[] = [
  ...usesBy({ 'aws:PrincipalOrgID': 'o-another0000', 'aws:PrincipalIsAWSService': 'false' }),
  ...usesBy({ 'aws:PrincipalIsAWSService': 'false' }),
  ...usesBy({}),
];
