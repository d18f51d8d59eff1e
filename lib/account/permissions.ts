import { Aws } from 'aws-cdk-lib';
import type { Environment } from '../environment/environment';
import { stacksOf } from '../environment/stacks';
import { planFolder, planPrefix } from './names';

const arn = (service: string, region: string, resource: string): string =>
  `arn:${Aws.PARTITION}:${service}:${region}:${Aws.ACCOUNT_ID}:${resource}`;

export interface Permission {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Why a resource has a `*`; absent where none has. */
  readonly wildcard?: string;
}

const stackArns = (environment: Environment): readonly string[] =>
  stacksOf(environment).map(({ stackId, region }) => arn('cloudformation', region, `stack/${stackId}/*`));

const stackIds = 'Of one stack by its name: CloudFormation ends the ARN with an id that it makes.';

/** As `DefaultStackSynthesizer` names them. https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html */
function bootstrapRoles(environment: Environment, qualifier: string, roles: readonly string[]): Permission {
  const names = stacksOf(environment).flatMap(({ region }) =>
    roles.map((role) => `role/cdk-${qualifier}-${role}-role-${Aws.ACCOUNT_ID}-${region}`),
  );
  return { actions: ['sts:AssumeRole'], resources: names.map((name) => arn('iam', '', name)) };
}

/**
 * Every template has the parameter `BootstrapVersion`, of an SSM type. `UpdateStack` and `CreateChangeSet` read it anew,
 * also with `UsePreviousValue`, with the caller's rights: the CDK's bootstrap template grants its deploy role the same.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/systems-manager-parameter-types.html
 * https://github.com/aws/aws-cdk/issues/20959
 */
const readBootstrapVersion = (regions: readonly string[], qualifier: string): Permission => ({
  actions: ['ssm:GetParameters'],
  resources: regions.map((region) => arn('ssm', region, `parameter/cdk-bootstrap/${qualifier}/version`)),
});

/** Assumes the roles that `cdk deploy` needs, and does nothing else. No image is deployed. */
export const deployPermissions = (environment: Environment, qualifier: string): readonly Permission[] => [
  bootstrapRoles(environment, qualifier, ['deploy', 'file-publishing', 'lookup']),
];

/**
 * Reads by the CDK's lookup role, and makes change sets that it cannot execute. CloudFormation takes a template of this
 * size from a bucket only, and reads it with the caller's rights.
 */
export function readPermissions(environment: Environment, qualifier: string): readonly Permission[] {
  const stacks = stacksOf(environment);
  const changeSets = ['CreateChangeSet', 'DescribeChangeSet', 'DeleteChangeSet'];
  const buckets = stacks.map(({ region }) => `cdk-${qualifier}-assets-${Aws.ACCOUNT_ID}-${region}`);
  return [
    bootstrapRoles(environment, qualifier, ['lookup']),
    {
      actions: changeSets.map((action) => `cloudformation:${action}`),
      resources: stackArns(environment),
      conditions: { StringLike: { 'cloudformation:ChangeSetName': `${planPrefix}*` } },
      wildcard: stackIds,
    },
    {
      actions: ['cloudformation:DescribeStacks'],
      resources: stackArns(environment),
      wildcard: stackIds,
    },
    {
      actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'],
      resources: buckets.map((bucket) => `arn:${Aws.PARTITION}:s3:::${bucket}/${planFolder}/*`),
      wildcard: 'A folder for the templates of change sets. What is deployed is not in it.',
    },
    readBootstrapVersion(
      stacks.map(({ region }) => region),
      qualifier,
    ),
  ];
}

/** What `wallet move-origin` and `wallet smoke` call: docs/command-line.md#iam-permissions. */
export function operatePermissions(environment: Environment, qualifier: string): readonly Permission[] {
  const { name, stackId, region } = environment;
  const namedAfterStack =
    'CloudFormation names it after the stack and the logical id, and ends the name with letters that it makes.';
  return [
    {
      actions: ['cloudformation:DescribeStacks'],
      resources: stackArns(environment),
      wildcard: stackIds,
    },
    {
      actions: ['ListStackResources', 'DescribeStackEvents', 'UpdateStack'].map(
        (action) => `cloudformation:${action}`,
      ),
      resources: [arn('cloudformation', region, `stack/${stackId}/*`)],
      wildcard: stackIds,
    },
    readBootstrapVersion([region], qualifier),
    {
      actions: ['ec2:DescribeAddresses', 'ec2:DescribeNatGateways', 'ec2:DescribeSubnets'],
      resources: ['*'],
      conditions: { StringEquals: { 'aws:RequestedRegion': region } },
      wildcard:
        'These actions have no resources: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html. They read, in one region.',
    },
    {
      actions: ['lambda:GetEventSourceMapping'],
      resources: [arn('lambda', region, 'event-source-mapping:*')],
      wildcard: 'Lambda makes the ids of event source mappings. It reads which function reads which queue.',
    },
    {
      actions: ['lambda:InvokeFunction', 'lambda:GetFunctionConfiguration'],
      resources: [arn('lambda', region, `function:${stackId}-RunOperation*`)],
      wildcard: namedAfterStack,
    },
    {
      actions: ['sqs:SendMessage'],
      resources: [arn('sqs', region, `${stackId}-WebhookEventsQueue-*`)],
      wildcard: namedAfterStack,
    },
    {
      actions: ['kms:GetPublicKey', 'kms:Sign', 'kms:GenerateMac'],
      resources: [arn('kms', region, 'key/*')],
      conditions: {
        StringEquals: {
          'aws:ResourceTag/service': 'wallet-infrastructure',
          'aws:ResourceTag/environment': name,
        },
      },
      wildcard:
        'KMS makes the ids of keys. Of the keys with the tags of this environment, only those that sign can sign, and one generates a MAC.',
    },
  ];
}
