import { Aws, CfnResource, type Stack } from 'aws-cdk-lib';
import * as backup from 'aws-cdk-lib/aws-backup';
import * as cloudtrail from 'aws-cdk-lib/aws-cloudtrail';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as rds from 'aws-cdk-lib/aws-rds';
import { twoRegions } from '../refusals';
import { type Hostile, type RuleCases, refusedProperty } from './case';

/** One property of one resource, refused in an environment that has the other region too. */
const property = (type: string, properties: object, at?: string): Hostile =>
  refusedProperty(type, properties, at, twoRegions);

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
      refusal:
        'Properties.BackupPlan.BackupPlanRule.0.CopyActions.0.DestinationBackupVaultArn is "arn:aws:backup:eu-west-1:123456789012:backup-vault:copies"',
    },
    "a database's backups replicated": property('AWS::RDS::DBInstance', {
      AutomaticBackupReplicationRegion: 'eu-west-1',
    }),
    'a cluster replicated from elsewhere': property('AWS::RDS::DBCluster', { SourceRegion: 'eu-west-1' }),
    'a cluster from a snapshot elsewhere': property('AWS::RDS::DBCluster', {
      SnapshotIdentifier: 'arn:aws:rds:eu-west-1:123456789012:cluster-snapshot:wallet',
    }),
    'volume snapshots copied': property(
      'AWS::DLM::LifecyclePolicy',
      { PolicyDetails: { Schedules: [{ CrossRegionCopyRules: [{ Target: 'eu-west-1' }] }] } },
      'PolicyDetails.Schedules.0.CrossRegionCopyRules',
    ),
    'a warehouse whose snapshots are copied': property('AWS::Redshift::Cluster', {
      DestinationRegion: 'eu-west-1',
    }),
    'a trail of every region': {
      build: (stack) => new cloudtrail.Trail(stack, 'Trail', { isMultiRegionTrail: true }),
      path: 'Test/Trail/Resource',
      refusal: 'Properties.IsMultiRegionTrail is true',
    },
    'an event store of every region, its default': property(
      'AWS::CloudTrail::EventDataStore',
      {},
      'MultiRegionEnabled',
    ),
    'log lines sent elsewhere': property(
      'AWS::Logs::SubscriptionFilter', // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
      { DestinationArn: { 'Fn::Sub': 'arn:aws:kinesis:eu-west-1:${AWS::AccountId}:stream/logs' } },
      'DestinationArn',
    ),
    'a log destination elsewhere': property('AWS::Logs::Destination', {
      TargetArn: 'arn:aws:kinesis:eu-west-1:1:stream/logs',
    }),
    'an inventory elsewhere': property(
      'AWS::S3::Bucket',
      { InventoryConfigurations: [{ Destination: { BucketArn: 'arn:aws:s3:::inventory-eu-west-1' } }] },
      'InventoryConfigurations',
    ),
    'findings of every region': property('AWS::SecurityHub::FindingAggregator', {
      RegionLinkingMode: 'ALL_REGIONS',
    }),
    'a network joined with another': property('AWS::EC2::VPCPeeringConnection', { PeerRegion: 'eu-west-1' }),
    'a region by a parameter': property(
      'AWS::EC2::VPCPeeringConnection',
      { PeerRegion: { Ref: 'Unknown' } },
      'PeerRegion',
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
      refusal: 'Properties.Targets is [{"Arn":"arn:aws:events:eu-west-1',
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
