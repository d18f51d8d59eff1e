import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { roleName } from '../../domain/workflow-roles';
import { backupRolePath, type Environment, inForce } from '../../lib/environment/schema';
import type { Denial, GuardedAccount } from '../../lib/guardrails/policies';
import { accountResources } from '../constructs/account-resources';
import { permissionsOf, readActions } from '../constructs/documented-permissions';
import type { DocumentedCall } from '../docs/calls';
import type { Request } from '../support/policy-evaluator';
import { type Json, synthesizeEveryStack } from '../support/stacks';
import aws from './aws.json';

type Context = NonNullable<Request['context']>;

export const account = '111122223333';
export const organization = 'o-abcdefghij';
const role = (name: string) => `arn:aws:iam::${account}:role/${name}`;
export const breakGlass = role('aws-reserved/sso.amazonaws.com/AWSReservedSSO_BreakGlass_0123456789abcdef');
export const guarded = (row: Environment): GuardedAccount => ({
  environment: inForce(row),
  account,
  organization,
  breakGlass,
});

/** The condition keys of services and the resource types of a statement; `any` for all. */
export const comparedBy = ({ Resource, Condition = {} }: Denial): readonly string[] => [
  ...Object.values(Condition)
    .flatMap(Object.keys)
    .filter((key) => !key.startsWith('aws:')),
  ...[Resource].flat().map((arn) => arn.split(':')[5]?.split('/')[0] ?? 'any'),
];

const by = (principal: string) => ({ 'aws:PrincipalArn': principal });
const backupRole = (row: Environment) => role(`${backupRolePath(inForce(row)).slice(1)}made`);
const vaultIn = (region: string, of = account) => `arn:aws:backup:${region}:${of}:backup-vault:any`;

/** Requests to the account's own resources, by one of its administrators. Global services have one endpoint, in us-east-1. */
const requests = (region: string, actions: string, more: Context = {}, resource?: string) =>
  readActions(actions).map((action): Request => {
    const isGlobal = /^(account|iam|organizations):/.test(action);
    const caller = { 'aws:PrincipalOrgID': organization, 'aws:PrincipalIsAWSService': 'false' };
    const context = { 'aws:RequestedRegion': isGlobal ? 'us-east-1' : region, ...by(role('Administrator')) };
    return { action, context: { ...caller, ...context, ...more }, ...(resource && { resource }) };
  });

const bootstrapFile = 'node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml';
const bootstrapTemplate = parse(readFileSync(bootstrapFile, 'utf8'));
const settings = { repository: 'owner/name', operators: undefined, adoptProvider: false };

type Deployed = { readonly Resources: Json; readonly region: string };

/** All that is deployed into a row's account: the resources of each template, with its region. */
export function templatesOf(row: Environment): Deployed[] {
  const [region = ''] = row.residencyRegions;
  const stacks = Object.values(synthesizeEveryStack([row]));
  return [
    ...stacks.map(({ json, listed: { region } }) => ({ ...json, region })),
    ...row.residencyRegions.map((region) => ({ ...bootstrapTemplate, region })),
    { Resources: accountResources({ ...settings, environments: [inForce(row)], region }), region },
  ];
}

/** What CloudFormation calls for a type, of the actions in the policies. A type that `aws.json` lacks has a call that does not exist. */
function callsFor(type: string): string {
  if (!type.startsWith('AWS::')) return '';
  if (!aws.types.split(' ').includes(type)) return `unknown:${type.replaceAll('::', '')}`;
  const calls = Object.entries(aws.handlers).filter(([, types]) => types.split(' ').includes(type));
  return calls.map(([action]) => action).join(' ');
}

/** Calls that handlers make for properties only that the residency rules refuse. */
const uncalled = readActions('backup:PutBackupVaultAccessPolicy rds:AddRoleToDBCluster AddRoleToDBInstance');

/** The service that gets the backup role with a type: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbackup.html */
const passedTo: Readonly<Record<string, string>> = {
  'AWS::Backup::BackupSelection': 'backup.amazonaws.com',
  'AWS::Backup::RestoreTestingSelection': 'restore-testing.backup.amazonaws.com',
};

const allowancesIn = (value: Json): readonly Json[] => {
  if (typeof value !== 'object' || value === null) return [];
  return value.Effect === 'Allow' ? [value] : Object.values(value).flatMap(allowancesIn);
};

/** What CloudFormation does for a template, with the CDK's role, and what its roles may do: `s3:GetObject*` as `s3:GetObject`. */
function requestsOf({ Resources, region }: Deployed, row: Environment) {
  const pathOf = (id: string): string => Resources[id]?.Properties.Path ?? '/';
  const ofBackup = backupRolePath(inForce(row));
  const backupRoles = Object.keys(Resources).filter((id) => pathOf(id) === ofBackup);
  return Object.values<Json>(Resources).flatMap(({ Type, Properties = {} }) => {
    const context = {
      ...by(role(`cdk-hnb659fds-cfn-exec-role-${account}-${region}`)),
      // A replica is created by `ReplicateKey` in the primary's region, and `CreateKey` in its own.
      'kms:MultiRegion': `${Properties.MultiRegion ?? Type === 'AWS::KMS::ReplicaKey'}`,
      'kms:ReplicaRegion': region,
      'iam:PassedToService': passedTo[Type] ?? `unknown for ${Type}`,
      'kms:BypassPolicyLockoutSafetyCheck': `${Properties.BypassPolicyLockoutSafetyCheck ?? false}`,
    };
    const text = JSON.stringify(Properties);
    const isFor = (id: string) => !/::IAM::/.test(Type) && text.includes(`{"Fn::GetAtt":["${id}","Arn"]}`);
    const statements = /^AWS::IAM::(Policy|Role)$/.test(Type) ? allowancesIn(Properties) : [];
    const granted = statements.flatMap(({ Sid, Action }) =>
      /^PipelineCrossAccount/.test(Sid) ? [] : Action,
    );
    const bearer = role(`${pathOf(Properties.Roles?.[0]?.Ref).slice(1)}made`);
    return [
      ...requests(region, callsFor(Type), context, backupRoles.some(isFor) ? backupRole(row) : undefined),
      ...requests(region, granted.join(' ').replaceAll('*', ''), by(bearer)),
    ];
  });
}

/** What people do with global services: bills, support, sign-in; one of each exempted action. */
const globalReads =
  'account:ListRegions aws-portal:ViewBilling billing:GetBillingData budgets:ViewBudget ce:GetCostAndUsage cloudtrail:LookupEvents consolidatedbilling:GetAccountBillingRole cur:DescribeReportDefinitions ec2:DescribeRegions freetier:GetAccountPlanState health:DescribeEvents iam:GetRole invoicing:ListInvoiceSummaries organizations:DescribeOrganization payments:ListPaymentPreferences pricing:GetProducts ram:AcceptResourceShareInvitation GetResourceShareInvitations route53:ListHostedZones route53domains:ListDomains s3:GetAccountPublicAccessBlock s3:GetBucketLocation s3:ListAllMyBuckets savingsplans:DescribeSavingsPlans shield:DescribeSubscription sso:ListInstances sts:GetCallerIdentity support:CreateCase supportplans:GetSupportPlan tax:GetTaxRegistration trustedadvisor:DescribeChecks';

/** What AWS Backup does with its role, and nobody else. */
const copies =
  'backup:CopyFromBackupVault CopyIntoBackupVault rds:CopyDBClusterSnapshot ModifyDBClusterSnapshotAttribute';

/** What a document's call asks for, as its role, in a region of a row. */
export function requestsOfCall(call: DocumentedCall, row: Environment, region = inForce(row).region) {
  const own = call.role === 'operate' ? roleName(call.role, row.name) : 'Administrator';
  const context = {
    ...by(call.role === 'break-glass' ? breakGlass : role(own)),
    'account:TargetRegion': region,
    'kms:PrimaryRegion': region,
    'iam:PassedToService': 'backup.amazonaws.com',
  };
  return call.actions.flatMap((action) =>
    requests(region, action, context, action === 'iam:PassRole' ? backupRole(row) : undefined),
  );
}

/** All that deployment, operation and CloudFormation do in an environment's account, each request once. */
export function allowedIn(row: Environment, templates: Deployed[], calls: readonly DocumentedCall[]) {
  const { region } = inForce(row);
  const all = [
    ...templates.flatMap((template) => requestsOf(template, row)),
    ...calls.flatMap((call) => requestsOfCall(call, row)),
    ...requests(region, permissionsOf().join(' ')),
    ...requests(region, copies, { ...by(backupRole(row)), 'backup:CopyTargets': [vaultIn(region)] }),
    ...requests('us-east-1', globalReads),
    ...requests(region, 'account:DisableRegion', { 'account:TargetRegion': 'sa-east-1' }),
    ...requests('sa-east-1', 'rds:DescribeDBClusterSnapshots tag:GetResources'),
    // A pager.
    ...requests(region, 'sns:Subscribe', { 'sns:Protocol': 'https' }),
  ].filter(({ action }) => !uncalled.includes(action));
  return [...new Map(all.map((request) => [JSON.stringify(request), request])).values()];
}

/** What CloudFormation does to undo a creation, and otherwise only the break-glass role. */
export const losses = readActions('kms:ScheduleKeyDeletion DisableKey ec2:ReleaseAddress');
/** What neither templates nor `wallet` do. */
export const foreignLosses = readActions('ec2:EnableAddressTransfer account:CloseAccount');

/** The doors that the service control policy keeps closed, by name, with requests that try them. */
export function keptClosed(row: Environment): Readonly<Record<string, readonly Request[]>> {
  const { region, stackId, multiRegionKeys } = inForce(row);
  const [outside, other, own] = ['sa-east-1', '999999999999', backupRole(row)];
  const calls = (actions: string, context?: Context, resource?: string) =>
    requests(region, actions, context, resource);
  const copiesTo = (vault: string) =>
    calls('backup:CopyFromBackupVault', { ...by(own), 'backup:CopyTargets': [vault] });
  const replicas = { 'kms:ReplicaRegion': outside, 'secretsmanager:AddReplicaRegions': [outside] };
  const similar = ['x/cdk-a-cfn-exec-role-b', 'a-cdk-a-cfn-exec-role-b', 'cdk-a-deploy-role-b'].map(role);
  return {
    'all outside the regions': requests(outside, 'rds:CreateDBCluster s3:CreateBucket ec2:DescribeVpcs'),
    'enabling regions': calls('account:EnableRegion', { 'account:TargetRegion': outside }),
    'disabling regions': calls('account:DisableRegion', { 'account:TargetRegion': region }),
    'leaving the organization': calls('organizations:LeaveOrganization'),
    'copies of backups, by others than AWS Backup': [
      ...calls(`${copies} CopyDBSnapshot ModifyDBSnapshotAttribute backup:StartCopyJob`),
      ...calls(copies, by(role(`${stackId}/AirGappedBackups2/made`))),
      ...calls(copies, by(own.replace(account, other))),
    ],
    'copies of backups elsewhere': [...copiesTo(vaultIn(outside)), ...copiesTo(vaultIn(region, other))],
    'access to vaults': calls('backup:PutBackupVaultAccessPolicy AssociateBackupVaultMpaApprovalTeam'),
    'sharing of resources': calls('ram:CreateResourceShare AssociateResourceShare'),
    'exports of the database': calls(
      'rds:StartExportTask CreateIntegration StartActivityStream AddRoleToDBCluster AddRoleToDBInstance',
    ),
    'replicas of keys and secrets': [
      ...calls('kms:ReplicateKey secretsmanager:CreateSecret ReplicateSecretToRegions', replicas),
      ...(multiRegionKeys
        ? calls('kms:UpdatePrimaryRegion', { 'kms:PrimaryRegion': outside })
        : calls('kms:CreateKey ReplicateKey', { 'kms:MultiRegion': 'true', 'kms:ReplicaRegion': region })),
    ],
    'public addresses of functions': calls('lambda:CreateFunctionUrlConfig'),
    'use of the backup role': [
      ...calls('sts:AssumeRole iam:PassRole', {}, own),
      ...calls('iam:PassRole', { 'iam:PassedToService': 'lambda.amazonaws.com' }, own),
    ],
    'irreversible loss': [role('Administrator'), `${breakGlass}1`, ...similar].flatMap((principal) =>
      calls([...losses, ...foreignLosses].join(' '), by(principal)),
    ),
    'keys that lock their account out': [role('Administrator'), breakGlass].flatMap((principal) =>
      calls('kms:CreateKey PutKeyPolicy', { ...by(principal), 'kms:BypassPolicyLockoutSafetyCheck': 'true' }),
    ),
  };
}
