import { Aws } from 'aws-cdk-lib';
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import { planFolder, planPrefix, type RoleKind } from '../../domain/workflow-roles';
import { coveredStacksOf, type Environment } from '../environment/schema';

interface Permission extends PolicyStatementProps {
  readonly actions: string[];
  readonly resources: string[];
  /** Reason for a `*` in a resource. @default - no `*` */
  readonly wildcard?: string;
}

const arn = (service: string, region: string, resource: string): string =>
  `arn:${Aws.PARTITION}:${service}:${region}:${Aws.ACCOUNT_ID}:${resource}`;

export function permissionsOf(
  environment: Environment,
  qualifier: string,
): Readonly<Record<RoleKind, readonly Permission[]>> {
  const { name } = environment;
  // Both stacks from the first day: a promotion must not wait for an administrator.
  const stacks = coveredStacksOf(environment);
  const regions = stacks.map((stack) => stack.region);
  const onStacks = (...actions: readonly string[]): Permission => ({
    actions: actions.map((action) => `cloudformation:${action}`),
    resources: stacks.map((stack) => arn('cloudformation', stack.region, `stack/${stack.stackId}/*`)),
    wildcard: 'Of a stack by its name: CloudFormation ends the ARN with an id that it makes.',
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
  const readBootstrapVersion: Permission = {
    actions: ['ssm:GetParameters'],
    resources: regions.map((each) => arn('ssm', each, `parameter/cdk-bootstrap/${qualifier}/version`)),
  };
  const readConsumers: Permission = {
    actions: ['lambda:GetEventSourceMapping'],
    resources: regions.map((each) => arn('lambda', each, 'event-source-mapping:*')),
    wildcard: 'Lambda makes the ids of event source mappings. It reads which function reads which queue.',
  };
  const namedAfterStack =
    'CloudFormation names it after the stack and the logical id, and ends the name with letters that it makes.';
  const named = (service: 'lambda' | 'sqs', ending: string) =>
    stacks.map((stack) => {
      const name = `${stack.stackId}${ending}`;
      return arn(service, stack.region, service === 'lambda' ? `function:${name}` : name);
    });
  const readQueues: Permission = {
    actions: ['sqs:GetQueueAttributes'],
    resources: named('sqs', '-*'),
    wildcard: namedAfterStack,
  };

  return {
    // Only what `cdk deploy` needs, without images; and a rollback reads whether the reserve address is in use.
    deploy: [assumeBootstrapRoles('deploy', 'file-publishing', 'lookup'), onStacks('DescribeStacks')],

    // For `wallet preflight`, `plan`, `origin-status` and `move-origin --dry-run`: docs/operating.md#iam-permissions. Names and
    // states of resources, nothing that they hold. It creates change sets that it cannot execute; CloudFormation accepts a
    // template of this size from a bucket only, and reads it with the caller's rights.
    read: [
      onStacks('DescribeStacks', 'GetTemplate', 'ListStackResources'),
      {
        ...onStacks('CreateChangeSet', 'DescribeChangeSet', 'DeleteChangeSet'),
        conditions: { StringLike: { 'cloudformation:ChangeSetName': `${planPrefix}*` } },
      },
      readBootstrapVersion,
      {
        actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject'],
        resources: regions
          .map((each) => `cdk-${qualifier}-assets-${Aws.ACCOUNT_ID}-${each}`)
          .map((bucket) => `arn:${Aws.PARTITION}:s3:::${bucket}/${planFolder}/*`),
        wildcard: 'A folder for the templates of change sets. What is deployed is not in it.',
      },
      {
        actions: ['kms:GenerateDataKey', 'kms:Decrypt'],
        resources: regions.map((each) => arn('kms', each, 'key/*')),
        conditions: {
          StringEquals: { 'kms:ViaService': regions.map((each) => `s3.${each}.amazonaws.com`) },
          StringLike: {
            'kms:EncryptionContext:aws:s3:arn': `arn:${Aws.PARTITION}:s3:::cdk-${qualifier}-assets-*`,
          },
        },
        wildcard: "Whoever bootstraps may choose the bucket's key. Only S3 uses it, for that bucket.",
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
        actions: ['lambda:GetFunctionConcurrency'],
        resources: named('lambda', '-DeleteUserGroup*'),
        wildcard: namedAfterStack,
      },
      readQueues,
      {
        actions: ['rds:DescribeDBClusters', 'rds:DescribeDBClusterSnapshots', 'rds:DescribeGlobalClusters'],
        resources: [
          ...regions.flatMap((each) => [
            arn('rds', each, 'cluster:*'),
            arn('rds', each, 'cluster-snapshot:*'),
          ]),
          arn('rds', '', 'global-cluster:*'),
        ],
        wildcard:
          'A row may name any snapshot to restore from, CloudFormation names the cluster, and a cluster may be in any global database. They read names and states.',
      },
      {
        actions: ['kms:DescribeKey'],
        resources: regions.map((each) => arn('kms', each, 'key/mrk-*')),
        wildcard: 'KMS makes the ids. It reads whether a key that the row records is usable.',
      },
      {
        actions: ['acm:DescribeCertificate'],
        resources: regions.map((each) => arn('acm', each, 'certificate/*')),
        wildcard:
          'ACM makes the ids. It reads whether a certificate of the row is issued, and for which names.',
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

    // For `wallet outputs`, `origin-status`, `move-origin`, `smoke` and `webhook test`: docs/operating.md#iam-permissions. What the
    // person on call does alone must not wait for an administrator.
    operate: [
      onStacks('DescribeStacks', 'ListStackResources', 'DescribeStackEvents', 'UpdateStack'),
      readBootstrapVersion,
      {
        actions: [
          'cloudwatch:GetMetricStatistics',
          'ec2:DescribeAddresses',
          'ec2:DescribeNatGateways',
          'ec2:DescribeSubnets',
        ],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:RequestedRegion': regions } },
        wildcard:
          'These actions have no resources: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html, https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html. They read, in the regions of the environment.',
      },
      readConsumers,
      readQueues,
      {
        actions: ['lambda:InvokeFunction'],
        resources: named('lambda', '-RunOperation*'),
        wildcard: namedAfterStack,
      },
      {
        actions: ['sqs:SendMessage'],
        resources: [...named('sqs', '-WebhookEventsQueue-*'), ...named('sqs', '-WebhookDeliveryQueue-*')],
        wildcard: namedAfterStack,
      },
      {
        actions: ['kms:GetPublicKey', 'kms:Sign'],
        resources: regions.map((each) => arn('kms', each, 'key/*')),
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
