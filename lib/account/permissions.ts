import { Aws } from 'aws-cdk-lib';
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import { planFolder, planPrefix, type RoleKind } from '../../domain/workflow-roles';
import { type Environment, stacksOf } from '../environment/schema';

interface Permission extends PolicyStatementProps {
  readonly actions: string[];
  readonly resources: string[];
  /** Reason for a `*` in a resource. @default - no `*` */
  readonly wildcard?: string;
}

type StackName = Readonly<Record<'stackId' | 'region', string>>;

const arn = (service: string, region: string, resource: string): string =>
  `arn:${Aws.PARTITION}:${service}:${region}:${Aws.ACCOUNT_ID}:${resource}`;

export function permissionsOf(
  environment: Environment,
  qualifier: string,
): Readonly<Record<RoleKind, readonly Permission[]>> {
  const { name, stackId, region } = environment;
  const stacks = stacksOf(environment);
  const regions = stacks.map((stack) => stack.region);
  const onStacks = (on: readonly StackName[], ...actions: readonly string[]): Permission => ({
    actions: actions.map((action) => `cloudformation:${action}`),
    resources: on.map((stack) => arn('cloudformation', stack.region, `stack/${stack.stackId}/*`)),
    wildcard: 'Of one stack by its name: CloudFormation ends the ARN with an id that it makes.',
  });
  /** As `DefaultStackSynthesizer` names them. https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html */
  const assumeBootstrapRoles = (...roles: readonly string[]): Permission => ({
    actions: ['sts:AssumeRole'],
    resources: regions.flatMap((each) =>
      roles.map((role) => arn('iam', '', `role/cdk-${qualifier}-${role}-role-${Aws.ACCOUNT_ID}-${each}`)),
    ),
  });
  /**
   * Every template has the parameter `BootstrapVersion`, of an SSM type. `UpdateStack` and `CreateChangeSet` read it
   * again, also with `UsePreviousValue`, with the caller's rights: the CDK's bootstrap template grants its deploy role the same.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/systems-manager-parameter-types.html
   * https://github.com/aws/aws-cdk/issues/20959
   */
  const readBootstrapVersion = (...on: readonly string[]): Permission => ({
    actions: ['ssm:GetParameters'],
    resources: on.map((each) => arn('ssm', each, `parameter/cdk-bootstrap/${qualifier}/version`)),
  });
  const readConsumers: Permission = {
    actions: ['lambda:GetEventSourceMapping'],
    resources: [arn('lambda', region, 'event-source-mapping:*')],
    wildcard: 'Lambda makes the ids of event source mappings. It reads which function reads which queue.',
  };
  const namedAfterStack =
    'CloudFormation names it after the stack and the logical id, and ends the name with letters that it makes.';

  return {
    // Only what `cdk deploy` needs, without images; and a rollback reads whether the reserve address is in use.
    deploy: [assumeBootstrapRoles('deploy', 'file-publishing', 'lookup'), onStacks(stacks, 'DescribeStacks')],

    // For `wallet preflight`, `plan`, `origin-status` and `move-origin --dry-run`: docs/operating.md#iam-permissions. Names and
    // states of resources, nothing that they hold. It creates change sets that it cannot execute; CloudFormation accepts a
    // template of this size from a bucket only, and reads it with the caller's rights.
    read: [
      onStacks(stacks, 'DescribeStacks', 'GetTemplate', 'ListStackResources'),
      {
        ...onStacks(stacks, 'CreateChangeSet', 'DescribeChangeSet', 'DeleteChangeSet'),
        conditions: { StringLike: { 'cloudformation:ChangeSetName': `${planPrefix}*` } },
      },
      readBootstrapVersion(...regions),
      {
        actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'],
        resources: regions
          .map((each) => `cdk-${qualifier}-assets-${Aws.ACCOUNT_ID}-${each}`)
          .map((bucket) => `arn:${Aws.PARTITION}:s3:::${bucket}/${planFolder}/*`),
        wildcard: 'A folder for the templates of change sets. What is deployed is not in it.',
      },
      {
        actions: [
          'backup:DescribeRegionSettings',
          'cloudwatch:GetMetricStatistics',
          'ec2:DescribeAddresses',
          'ec2:DescribeAvailabilityZones',
          'ec2:DescribeNatGateways',
          'ec2:DescribeSubnets',
          'lambda:GetAccountSettings',
          'rds:DescribeOrderableDBInstanceOptions',
        ],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:RequestedRegion': regions } },
        wildcard: 'These actions have no resources. They read, in the regions of the environment.',
      },
      readConsumers,
      {
        actions: ['sqs:GetQueueAttributes'],
        resources: [arn('sqs', region, `${stackId}-*`)],
        wildcard: namedAfterStack,
      },
      {
        actions: ['rds:DescribeDBClusters', 'rds:DescribeDBClusterSnapshots'],
        resources: regions.flatMap((each) => [
          arn('rds', each, 'cluster:*'),
          arn('rds', each, 'cluster-snapshot:*'),
        ]),
        wildcard:
          'A row may name any snapshot to restore from, and CloudFormation names the cluster. They read names and states.',
      },
      {
        actions: ['kms:DescribeKey'],
        resources: regions.map((each) => arn('kms', each, 'key/mrk-*')),
        wildcard: 'KMS makes the ids. It reads whether a key that the row records is usable.',
      },
      {
        actions: ['iam:GetRole'],
        resources: [arn('iam', '', 'role/*')],
        wildcard: 'It reads whether the roles of the CDK and of RDS exist.',
      },
      {
        actions: ['account:GetRegionOptStatus'],
        resources: ['*'],
        wildcard: 'The action has no resources but accounts. It reads whether a region is enabled.',
      },
    ],

    // `ReadOnlyAccess` on the account, logs included, without the right to decrypt: CloudFormation compares a stack's resources with
    // the caller's rights to read each of their types.
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-drift.html
    drift: [assumeBootstrapRoles('lookup')],

    // For `wallet outputs`, `move-origin` and `smoke`: docs/operating.md#iam-permissions.
    operate: [
      onStacks(stacks, 'DescribeStacks'),
      onStacks([environment], 'ListStackResources', 'DescribeStackEvents', 'UpdateStack'),
      readBootstrapVersion(region),

      {
        actions: ['ec2:DescribeAddresses', 'ec2:DescribeNatGateways', 'ec2:DescribeSubnets'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:RequestedRegion': region } },
        wildcard:
          'These actions have no resources: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html. They read, in one region.',
      },
      readConsumers,
      {
        actions: ['lambda:InvokeFunction'],
        resources: [arn('lambda', region, `function:${stackId}-RunOperation*`)],
        wildcard: namedAfterStack,
      },
      {
        actions: ['sqs:SendMessage'],
        resources: [arn('sqs', region, `${stackId}-WebhookEventsQueue-*`)],
        wildcard: namedAfterStack,
      },
      {
        actions: ['kms:GetPublicKey', 'kms:Sign'],
        resources: [arn('kms', region, 'key/*')],
        conditions: {
          StringEquals: {
            'aws:ResourceTag/service': 'wallet-infrastructure',
            'aws:ResourceTag/environment': name,
          },
        },
        wildcard:
          'KMS makes the ids of keys. Of the keys with the tags of this environment, only those that sign can sign.',
      },
    ],
  };
}
