import {
  isAbsentOr,
  isFalse,
  isOff,
  isOneOf,
  isOwnRegion,
  propertyRule,
  staysInRegion,
} from '../property-rule';

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
      accepts: staysInRegion,
    },
    { type: 'AWS::RDS::DBInstance', path: 'SourceDBInstanceAutomatedBackupsArn', accepts: staysInRegion },
    { type: 'AWS::RDS::DBInstance', path: 'SourceDBInstanceIdentifier', accepts: staysInRegion },
    { type: 'AWS::RDS::DBCluster', path: 'ReplicationSourceIdentifier', accepts: staysInRegion },
    { type: 'AWS::RDS::DBCluster', path: 'SnapshotIdentifier', accepts: staysInRegion },
    { type: 'AWS::CloudTrail::Trail', path: 'IsMultiRegionTrail', accepts: isOff },
    // Collects from every region unless told otherwise:
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudtrail-eventdatastore.html
    { type: 'AWS::CloudTrail::EventDataStore', path: 'MultiRegionEnabled', accepts: isFalse },
    { type: 'AWS::Logs::SubscriptionFilter', path: 'DestinationArn', accepts: staysInRegion },
    { type: 'AWS::Logs::Destination', path: 'TargetArn', accepts: staysInRegion },
    { type: 'AWS::Logs::DeliveryDestination', path: 'DestinationResourceArn', accepts: staysInRegion },
    { type: 'AWS::Logs::AccountPolicy', path: 'PolicyDocument', accepts: staysInRegion },
    { type: 'AWS::S3::Bucket', path: 'InventoryConfigurations', accepts: staysInRegion },
    { type: 'AWS::EC2::FlowLog', path: 'LogDestination', accepts: staysInRegion },
    { type: 'AWS::Config::ConfigurationAggregator', path: 'AccountAggregationSources', accepts: isOff },
    { type: 'AWS::Config::ConfigurationAggregator', path: 'OrganizationAggregationSource', accepts: isOff },
    {
      type: 'AWS::SecurityHub::FindingAggregator',
      path: 'RegionLinkingMode',
      accepts: isOneOf('NO_REGIONS'),
    },
    { type: 'AWS::ResourceExplorer2::Index', path: 'Type', accepts: isOneOf('LOCAL') },
    { named: /^crossRegionCopy(Rules|Targets)?$/i, accepts: isOff },
    {
      named: regionProperties,
      accepts: isAbsentOr((value, template) =>
        Array.isArray(value)
          ? value.every((item) => staysInRegion(item, template))
          : isOwnRegion(value, template),
      ),
    },
  ],
});
