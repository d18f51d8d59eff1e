import { Aws, CfnOutput, CfnResource, Fn, NestedStack, Stack } from 'aws-cdk-lib';
import * as backup from 'aws-cdk-lib/aws-backup';
import * as cloudtrail from 'aws-cdk-lib/aws-cloudtrail';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { only, twoRegions } from '../refusals';
import type { Hostile, RuleCases } from './case';

/** One property of one resource, refused in an environment that has the other region too. */
const property = (type: string, properties: object, at: string, value = 'eu-west-1'): Hostile => ({
  build: only(type, properties),
  boundary: twoRegions,
  path: 'Test/It',
  at: `Properties.${at}`,
  value,
});

const planWithCopyTo = (arn: string) => (stack: Stack) => {
  const vault = new backup.BackupVault(stack, 'Vault');
  const plan = new backup.BackupPlan(stack, 'Plan', { backupVault: vault });
  const destination = backup.BackupVault.fromBackupVaultArn(stack, 'Copy', arn);
  plan.addRule(
    new backup.BackupPlanRule({ copyActions: [{ destinationBackupVault: destination }], ruleName: 'copy' }),
  );
};

export const crossRegionCopy: RuleCases = {
  hostile: {
    "a backup copied to the environment's other region": {
      build: planWithCopyTo('arn:aws:backup:eu-west-1:123456789012:backup-vault:copies'),
      boundary: twoRegions,
      path: 'Test/Plan/Resource',
      at: 'Properties.BackupPlan.BackupPlanRule.0.CopyActions.0.DestinationBackupVaultArn',
      value: 'eu-west-1',
    },
    "a database's backups replicated": property(
      'AWS::RDS::DBInstance',
      { AutomaticBackupReplicationRegion: 'eu-west-1' },
      'AutomaticBackupReplicationRegion',
    ),
    'a cluster replicated from elsewhere': property(
      'AWS::RDS::DBCluster',
      { SourceRegion: 'eu-west-1' },
      'SourceRegion',
    ),
    'a cluster from a snapshot elsewhere': property(
      'AWS::RDS::DBCluster',
      { SnapshotIdentifier: 'arn:aws:rds:eu-west-1:123456789012:cluster-snapshot:wallet' },
      'SnapshotIdentifier',
    ),
    'volume snapshots copied': property(
      'AWS::DLM::LifecyclePolicy',
      { PolicyDetails: { Schedules: [{ CrossRegionCopyRules: [{ Target: 'eu-west-1' }] }] } },
      'PolicyDetails.Schedules.0.CrossRegionCopyRules',
    ),
    'a warehouse whose snapshots are copied': property(
      'AWS::Redshift::Cluster',
      { DestinationRegion: 'eu-west-1' },
      'DestinationRegion',
    ),
    'a trail of every region': {
      build: (stack) => {
        new cloudtrail.Trail(stack, 'Trail', { isMultiRegionTrail: true });
      },
      path: 'Test/Trail/Resource',
      at: 'Properties.IsMultiRegionTrail',
      value: 'true',
    },
    'an event store of every region, its default': property(
      'AWS::CloudTrail::EventDataStore',
      {},
      'MultiRegionEnabled',
      'left out',
    ),
    'log lines sent elsewhere': property(
      'AWS::Logs::SubscriptionFilter',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
      { DestinationArn: { 'Fn::Sub': 'arn:aws:kinesis:eu-west-1:${AWS::AccountId}:stream/logs' } },
      'DestinationArn',
    ),
    'a log destination elsewhere': property(
      'AWS::Logs::Destination',
      { TargetArn: 'arn:aws:kinesis:eu-west-1:1:stream/logs' },
      'TargetArn',
    ),
    'an inventory elsewhere': property(
      'AWS::S3::Bucket',
      { InventoryConfigurations: [{ Destination: { BucketArn: 'arn:aws:s3:::inventory-eu-west-1' } }] },
      'InventoryConfigurations',
    ),
    'findings of every region': property(
      'AWS::SecurityHub::FindingAggregator',
      { RegionLinkingMode: 'ALL_REGIONS' },
      'RegionLinkingMode',
      'ALL_REGIONS',
    ),
    'a network joined with another': property(
      'AWS::EC2::VPCPeeringConnection',
      { PeerRegion: 'eu-west-1' },
      'PeerRegion',
    ),
    'a region by a parameter': property(
      'AWS::EC2::VPCPeeringConnection',
      { PeerRegion: { Ref: 'Unknown' } },
      'PeerRegion',
      'Unknown',
    ),
    "a custom resource's copy": property(
      'Custom::AWS',
      { Create: JSON.stringify({ action: 'replicateKey', parameters: { ReplicaRegion: 'eu-west-1' } }) },
      'Create.parameters.ReplicaRegion',
    ),
  },
  harmless: {
    "a backup copied within the stack's region": {
      build: planWithCopyTo('arn:aws:backup:eu-central-1:123456789012:backup-vault:copies'),
      boundary: twoRegions,
    },
    "copies with both ends in the stack's region": {
      build: (stack) => {
        new cloudtrail.Trail(stack, 'Trail', { isMultiRegionTrail: false });
        new rds.CfnDBCluster(stack, 'Cluster', { sourceRegion: Aws.REGION });
        new CfnResource(stack, 'Filter', {
          type: 'AWS::Logs::SubscriptionFilter',
          properties: { DestinationArn: `arn:aws:kinesis:${Aws.REGION}:${Aws.ACCOUNT_ID}:stream/logs` },
        });
      },
      boundary: twoRegions,
    },
  },
};

const app = (stack: Stack) => stack.node.root as never;

export const crossStackReference: RuleCases = {
  hostile: {
    'an export': {
      build: (stack) => {
        new CfnOutput(stack, 'Shared', { value: 'x', exportName: 'shared' });
      },
      path: 'Test',
      at: 'Outputs.Shared.Export',
      value: 'shared',
    },
    'an import': {
      build: only('AWS::SQS::Queue', { KmsMasterKeyId: Fn.importValue('shared') }),
      path: 'Test/It',
      at: 'Properties.KmsMasterKeyId.Fn::ImportValue',
      value: 'shared',
    },
    "another stack's output, by name": {
      build: only('AWS::SQS::Queue', { KmsMasterKeyId: Fn.getStackOutput('Other', 'Key', 'eu-west-1') }),
      boundary: twoRegions,
      path: 'Test/It',
      at: 'Properties.KmsMasterKeyId.Fn::GetStackOutput',
      value: 'Other',
    },
    "the library's carrier between regions": {
      build: (stack) => {
        const other = new Stack(app(stack), 'Other', {
          env: { region: 'eu-west-1' },
          crossRegionReferences: true,
        });
        const key = new kms.Key(other, 'Key');
        new sqs.CfnQueue(stack, 'Queue', { kmsMasterKeyId: key.keyArn });
      },
      boundary: twoRegions,
      path: 'Test/ExportsReader/Resource/Default',
      at: 'Type',
      value: 'Custom::CrossRegionExportReader',
    },
  },
  harmless: {
    'references within the stack': {
      build: (stack) => {
        const key = new kms.Key(stack, 'Key');
        new sqs.Queue(stack, 'Queue', { encryptionMasterKey: key });
        new CfnOutput(stack, 'KeyArn', { value: key.keyArn });
      },
    },
  },
};

const ruleTo = (arn: string) => (stack: Stack) => {
  const bus = events.EventBus.fromEventBusArn(stack, 'Bus', arn);
  const role = new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('events.amazonaws.com') });
  new events.Rule(stack, 'Rule', {
    eventPattern: { source: ['wallet'] },
    targets: [new targets.EventBus(bus, { role })],
  });
};

export const eventTarget: RuleCases = {
  hostile: {
    "a bus in the environment's other region": {
      build: ruleTo('arn:aws:events:eu-west-1:123456789012:event-bus/other'),
      boundary: twoRegions,
      path: 'Test/Rule/Resource',
      at: 'Properties.Targets',
      value: 'eu-west-1',
    },
    'a schedule with a target elsewhere': property(
      'AWS::Scheduler::Schedule',
      { Target: { Arn: 'arn:aws:lambda:eu-west-1:1:function:it' } },
      'Target',
    ),
    'a subscription to a topic elsewhere': property(
      'AWS::SNS::Subscription',
      { TopicArn: 'arn:aws:sns:eu-central-1:1:topic', Region: 'eu-west-1' },
      'Region',
    ),
  },
  harmless: {
    "a bus in the stack's region": {
      build: ruleTo('arn:aws:events:eu-central-1:123456789012:event-bus/other'),
      boundary: twoRegions,
    },
  },
};

export const unreadableTemplate: RuleCases = {
  hostile: {
    'a macro over the template': {
      build: (stack) => {
        stack.addTransform('Company::Macro');
      },
      path: 'Test',
      at: 'Transform',
      value: 'Company::Macro',
    },
    'a macro in a resource': {
      build: only('AWS::SQS::Queue', { Tags: [{ 'Fn::Transform': { Name: 'AWS::Include' } }] }),
      path: 'Test/It',
      at: 'Properties.Tags.0.Fn::Transform',
      value: 'AWS::Include',
    },
    'a stack from elsewhere': {
      build: only('AWS::CloudFormation::Stack', { TemplateURL: 'https://example.com/template.json' }),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::CloudFormation::Stack',
    },
    'a stack set': {
      build: only('AWS::CloudFormation::StackSet', {}),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::CloudFormation::StackSet',
    },
  },
  harmless: {
    'a nested stack of this app': {
      build: (stack) => {
        new sqs.Queue(new NestedStack(new NestedStack(stack, 'Nested'), 'Within'), 'Queue');
      },
    },
  },
};
