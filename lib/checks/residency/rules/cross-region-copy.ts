import { isAbsentOr, isFalse, isOff, isOneOf, propertyRule, staysInRegion } from '../property-rule';

/** What such a property names is where data goes to or comes from. */
const regionProperties =
  /^(destination|target|replica|replication|replications?|secondary|source|peer|bucket|service|sns|automaticBackupReplication)Regions?$/i;

/**
 * Snapshots, backups and logs that are copied to, or collected from, another region, be it one of the environment's
 * own: nothing but the standby's replication moves data, and that goes by the global database.
 */
export const crossRegionCopy = propertyRule({
  id: 'cross-region-copy',
  refuses: 'Snapshots, backups, logs or traffic to or from another region',
  remedy: "Keep both ends in the stack's own region.",
  checks: [
    {
      type: 'AWS::Backup::BackupPlan',
      path: 'BackupPlan.BackupPlanRule.*.CopyActions.*.DestinationBackupVaultArn',
      holds: staysInRegion,
    },
    { type: 'AWS::RDS::DBInstance', path: 'SourceDBInstanceAutomatedBackupsArn', holds: staysInRegion },
    { type: 'AWS::RDS::DBInstance', path: 'SourceDBInstanceIdentifier', holds: staysInRegion },
    { type: 'AWS::RDS::DBCluster', path: 'ReplicationSourceIdentifier', holds: staysInRegion },
    { type: 'AWS::RDS::DBCluster', path: 'SnapshotIdentifier', holds: staysInRegion },
    { type: 'AWS::CloudTrail::Trail', path: 'IsMultiRegionTrail', holds: isOff },
    // Collects from every region unless told otherwise:
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudtrail-eventdatastore.html
    { type: 'AWS::CloudTrail::EventDataStore', path: 'MultiRegionEnabled', holds: isFalse },
    { type: 'AWS::Logs::SubscriptionFilter', path: 'DestinationArn', holds: staysInRegion },
    { type: 'AWS::Logs::Destination', path: 'TargetArn', holds: staysInRegion },
    { type: 'AWS::Logs::DeliveryDestination', path: 'DestinationResourceArn', holds: staysInRegion },
    { type: 'AWS::Logs::AccountPolicy', path: 'PolicyDocument', holds: staysInRegion },
    { type: 'AWS::S3::Bucket', path: 'InventoryConfigurations', holds: staysInRegion },
    { type: 'AWS::EC2::FlowLog', path: 'LogDestination', holds: staysInRegion },
    { type: 'AWS::Config::ConfigurationAggregator', path: 'AccountAggregationSources', holds: isOff },
    { type: 'AWS::Config::ConfigurationAggregator', path: 'OrganizationAggregationSource', holds: isOff },
    {
      type: 'AWS::SecurityHub::FindingAggregator',
      path: 'RegionLinkingMode',
      holds: isOneOf('NO_REGIONS'),
    },
    { type: 'AWS::ResourceExplorer2::Index', path: 'Type', holds: isOneOf('LOCAL') },
    { named: /^crossRegionCopy(Rules|Targets)?$/i, holds: isOff },
    {
      named: regionProperties,
      holds: isAbsentOr((value, template) =>
        Array.isArray(value)
          ? value.every((item) => staysInRegion(item, template))
          : isOneOf(template.boundary.region)(value, template),
      ),
    },
  ],
});
