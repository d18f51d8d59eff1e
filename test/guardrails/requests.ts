import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { parse } from 'yaml';
import { AccountStack } from '../../lib/account/account-stack';
import { readAccountSettings } from '../../lib/account/settings';
import { commandLineContext } from '../../lib/app';
import { backupRolePath, type Environment } from '../../lib/environment/schema';
import type { GuardedAccount } from '../../lib/guardrails/policies';
import { readDocuments } from '../support/documents';
import { withEveryOption } from '../support/rows';
import { synthesizeEveryStack, withTemporaryFolder } from '../support/stacks';
import type { Request } from './evaluator';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

export const account = '111122223333';
export const organization = 'o-abcdefghij';
export const guarded = (environment: Environment): GuardedAccount => ({ environment, account, organization });

/**
 * What CloudFormation calls for a service's types, or for one type, beside `Create…`, `Describe…s`, `Update…`, `Modify…` and `Delete…`
 * with the type's name: by the `handlers` of its schema, without those of properties that no template has.
 * https://github.com/cdklabs/awscdk-service-spec/tree/main/sources/CloudFormationSchema
 */
const handlers: Readonly<Record<string, string>> = {
  'AWS::ApiGateway': 'apigateway:GET POST PATCH PUT DELETE UpdateRestApiPolicy iam:PassRole',
  'AWS::Backup':
    'backup:GetBackupPlan GetBackupSelection GetRestoreTestingPlan TagResource ListTags backup-storage:MountCapsule kms:CreateGrant DescribeKey GenerateDataKey Decrypt RetireGrant iam:GetRole CreateServiceLinkedRole',
  'AWS::Budgets': 'budgets:ViewBudget ModifyBudget',
  'AWS::CertificateManager':
    'acm:RequestCertificate AddTagsToCertificate UpdateCertificateOptions route53:ChangeResourceRecordSets',
  'AWS::CloudWatch': 'cloudwatch:PutMetricAlarm PutCompositeAlarm PutDashboard TagResource',
  'AWS::EC2':
    'ec2:CreateTags CreateVpcEndpoint ModifyVpcAttribute ModifySubnetAttribute ReplaceRoute AssociateRouteTable DisassociateRouteTable AttachInternetGateway DetachInternetGateway DescribeNetworkAcls',
  'AWS::EC2::EIP':
    'ec2:AllocateAddress ReleaseAddress DescribeAddresses AssociateAddress DisassociateAddress',
  'AWS::EC2::FlowLog':
    'ec2:CreateFlowLogs DeleteFlowLogs iam:PassRole logs:CreateLogDelivery DeleteLogDelivery',
  'AWS::EC2::SecurityGroup':
    'ec2:AuthorizeSecurityGroupEgress RevokeSecurityGroupEgress AuthorizeSecurityGroupIngress RevokeSecurityGroupIngress',
  'AWS::ECR':
    'ecr:PutLifecyclePolicy SetRepositoryPolicy PutImageTagMutability PutImageScanningConfiguration TagResource',
  'AWS::Events': 'events:PutRule PutTargets RemoveTargets ListTargetsByRule TagResource iam:PassRole',
  'AWS::IAM':
    'iam:CreateOpenIDConnectProvider PutRolePolicy AttachRolePolicy TagRole PassRole CreatePolicyVersion',
  'AWS::KMS':
    'kms:PutKeyPolicy GetKeyPolicy EnableKeyRotation TagResource ListResourceTags ScheduleKeyDeletion',
  'AWS::Lambda': 'lambda:GetFunction GetPolicy RemovePermission PutFunctionConcurrency TagResource',
  'AWS::Lambda::Function':
    'lambda:UpdateFunctionCode UpdateFunctionConfiguration iam:PassRole s3:GetObject ec2:DescribeSubnets',
  'AWS::Lambda::Permission': 'lambda:AddPermission',
  'AWS::Logs':
    'logs:PutRetentionPolicy AssociateKmsKey TagResource PutDataProtectionPolicy PutIndexPolicy PutMetricFilter',
  'AWS::RDS':
    'rds:AddTagsToResource DescribeEvents RebootDBInstance DescribeDBClusterParameters RemoveFromGlobalCluster CrossRegionCommunication kms:CreateGrant DescribeKey ec2:DescribeSecurityGroups iam:CreateServiceLinkedRole',
  'AWS::RDS::DBCluster':
    'rds:CreateDBClusterSnapshot DescribeDBClusterSnapshots RestoreDBClusterFromSnapshot RestoreDBClusterToPointInTime EnableHttpEndpoint',
  'AWS::Route53': 'route53:ChangeResourceRecordSets GetChange ListResourceRecordSets',
  'AWS::S3':
    's3:PutBucketVersioning PutEncryptionConfiguration PutBucketPublicAccessBlock PutLifecycleConfiguration PutBucketTagging PutBucketPolicy ListBucket',
  'AWS::SNS': 'sns:GetTopicAttributes SetTopicAttributes TagResource',
  'AWS::SNS::Subscription': 'sns:Subscribe SetSubscriptionAttributes Unsubscribe',
  'AWS::SQS': 'sqs:GetQueueUrl GetQueueAttributes SetQueueAttributes TagQueue',
  'AWS::SSM': 'ssm:PutParameter GetParameters AddTagsToResource',
  'AWS::SecretsManager':
    'secretsmanager:GetRandomPassword GetSecretValue PutSecretValue TagResource rds:DescribeDBClusters',
  'AWS::WAFv2':
    'wafv2:PutLoggingConfiguration AssociateWebACL DisassociateWebACL TagResource logs:CreateLogDelivery DeleteLogDelivery PutResourcePolicy DescribeResourcePolicies iam:CreateServiceLinkedRole',
  Custom: 'lambda:InvokeFunction',
};

/** @throws Error for a service without a row above */
function actionsFor(type: string): readonly string[] {
  const rows = Object.keys(handlers).filter((key) => `${type}::`.startsWith(`${key}::`));
  const actions = rows.flatMap((key) => readActions(handlers[key] as string));
  const [service] = actions[0]?.split(':') ?? [];
  if (service === undefined) throw new Error(`Add to the handlers what CloudFormation calls for ${type}.`);
  const name = type.split('::').at(-1);
  const derived = ['Create', 'Update', 'Modify', 'Delete'].map((verb) => `${service}:${verb}${name}`);
  return [...actions, ...derived, `${service}:Describe${name}s`];
}

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

/** Values of the condition keys that a resource's properties decide, by action. */
const contexts: Readonly<Record<string, (properties: Json, ownArn: (service: string) => string) => Json>> = {
  'apigateway:POST': ({ EndpointConfiguration: endpoint }) =>
    endpoint && { 'apigateway:Request/EndpointType': endpoint.Types },
  'apigateway:PATCH': ({ EndpointConfiguration: endpoint }) =>
    endpoint && { 'apigateway:Request/EndpointType': endpoint.Types },
  'events:PutTargets': ({ Targets }, ownArn) => ({
    'events:TargetArn': Targets.map(() => ownArn('lambda')),
  }),
  'kms:CreateKey': ({ MultiRegion = false }) => ({ 'kms:MultiRegion': String(MultiRegion) }),
  'lambda:AddPermission': ({ Principal }) => ({ 'lambda:Principal': Principal }),
  'secretsmanager:CreateSecret': ({ ReplicaRegions }) =>
    ReplicaRegions && { 'secretsmanager:AddReplicaRegions': ReplicaRegions },
  'sns:Subscribe': ({ Protocol }) => ({ 'sns:Protocol': Protocol }),
  'wafv2:PutLoggingConfiguration': (_, ownArn) => ({ 'wafv2:LogDestinationResource': ownArn('logs') }),
};

/** The paths of API Gateway's collections, whose permission is for a method of HTTP. */
const collections: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::DomainName': 'domainnames',
  'AWS::ApiGateway::RestApi': 'restapis',
};

/** What CloudFormation does for a template. */
function requestsOfTemplate({ Resources }: Json, region: string): readonly Request[] {
  const ownArn = (service: string) => `arn:aws:${service}:${region}:${account}:own`;
  return Object.values<Json>(Resources).flatMap(({ Type, Properties = {} }) =>
    actionsFor(Type).map((action) => ({
      ...requestIn(region, action, contexts[action]?.(Properties, ownArn)),
      ...(collections[Type] &&
        action === 'apigateway:POST' && { resource: `arn:aws:apigateway:${region}::/${collections[Type]}` }),
    })),
  );
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
  const stacks = Object.values(synthesizeEveryStack([withEveryOption(environment)]));
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
