import { isAbsent, isOff, isOneOf, isOwnRegion, propertyRule } from '../property-rule';
import { isObject } from '../template';

/** https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html */
export const multiRegionKey = propertyRule({
  id: 'multi-region-key',
  refuses: 'A KMS key that can be used in more than one region',
  remedy: 'Make a key of the one region: leave MultiRegion out, and let each stack have its own key.',
  types: [/^AWS::KMS::ReplicaKey$/],
  checks: [{ type: 'AWS::KMS::Key', path: 'MultiRegion', accepts: isOff }],
});

/** https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets.html */
export const secretReplica = propertyRule({
  id: 'secret-replica',
  refuses: 'A secret with replicas in other regions',
  remedy: 'Leave ReplicaRegions out; let each stack have its own secret.',
  checks: [
    { type: 'AWS::SecretsManager::Secret', path: 'ReplicaRegions', accepts: isOff },
    { named: /^AddReplicaRegions$/i, accepts: isOff },
  ],
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication.html */
export const bucketReplication = propertyRule({
  id: 'bucket-replication',
  refuses: 'A bucket whose objects are copied or reached across regions',
  remedy: 'Leave replication and multi-region access points out.',
  types: [/^AWS::S3::MultiRegionAccessPoint/],
  checks: [{ type: 'AWS::S3::Bucket', path: 'ReplicationConfiguration', accepts: isAbsent }],
});

/**
 * A table declared as global with the one replica in the stack's region is an ordinary table, and what the CDK's
 * `TableV2` makes. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GlobalTables.html
 */
export const globalTable = propertyRule({
  id: 'global-table',
  refuses: 'A DynamoDB table with a replica in another region',
  remedy: "Keep the one replica in the stack's own region.",
  types: [/^Custom::DynamoDBReplica$/],
  checks: [
    { type: 'AWS::DynamoDB::GlobalTable', path: 'Replicas.*.Region', accepts: isOwnRegion },
    { type: 'AWS::DynamoDB::GlobalTable', path: 'GlobalTableWitnesses', accepts: isOff },
    { type: 'AWS::DynamoDB::GlobalTable', path: 'GlobalTableSourceArn', accepts: isAbsent },
  ],
});

/** Other stores that span regions by themselves. */
export const multiRegionStore = propertyRule({
  id: 'multi-region-store',
  refuses: 'A store or endpoint that spans regions',
  remedy: 'Use the form of the service that stays in one region.',
  types: [
    /^AWS::ElastiCache::GlobalReplicationGroup$/,
    /^AWS::MemoryDB::MultiRegionCluster$/,
    /^AWS::SES::MultiRegionEndpoint$/,
    /^AWS::SSMIncidents::ReplicationSet$/,
    /^AWS::ECR::ReplicationConfiguration$/,
    // Replicates events: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-global-endpoints.html
    /^AWS::Events::Endpoint$/,
  ],
  checks: [
    { type: 'AWS::EFS::FileSystem', path: 'ReplicationConfiguration', accepts: isAbsent },
    { type: 'AWS::DSQL::Cluster', path: 'MultiRegionProperties', accepts: isAbsent },
    {
      type: 'AWS::Cassandra::Keyspace',
      path: 'ReplicationSpecification',
      accepts: (value, template) =>
        !isObject(value) || isOneOf('SINGLE_REGION')(value.ReplicationStrategy, template),
    },
  ],
});
