import { CfnResource, NestedStack, RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { twoRegions } from '../refusals';
import { type RuleCases, refusedProperty, refusedType } from './case';

export const multiRegionKey: RuleCases = {
  hostile: {
    'a multi-region key': {
      build: (stack) => new kms.Key(stack, 'Key', { multiRegion: true }),
      path: 'Test/Key/Resource',
      refusal: 'Properties.MultiRegion is true',
    },
    'a multi-region key in a nested stack': {
      build: (stack) =>
        new kms.Key(new NestedStack(new NestedStack(stack, 'Nested'), 'Within'), 'Key', {
          multiRegion: true,
        }),
      path: 'Test/Nested/Within/Key/Resource',
      refusal: 'Properties.MultiRegion is true',
    },
    'a key that a condition makes multi-region': refusedProperty(
      'AWS::KMS::Key',
      { MultiRegion: { 'Fn::If': ['Anything', true, false] } },
      'MultiRegion.Fn::If.1',
    ),
    "a replica of another region's key": refusedType(
      'AWS::KMS::ReplicaKey',
      { PrimaryKeyArn: 'arn:aws:kms:eu-west-1:1:key/mrk-1' },
      twoRegions,
    ),
  },
  harmless: {
    'a key of the region': { build: (stack) => new kms.Key(stack, 'Key', { multiRegion: false }) },
  },
};

export const secretReplica: RuleCases = {
  hostile: {
    "a replica in the environment's other region": {
      build: (stack) =>
        new secretsmanager.Secret(stack, 'Secret', { replicaRegions: [{ region: 'eu-west-1' }] }),
      boundary: twoRegions,
      path: 'Test/Secret/Resource',
      refusal: 'Properties.ReplicaRegions is [{"Region":"eu-west-1"}]',
    },
    "a custom resource's replication": refusedProperty(
      'Custom::AWS',
      {
        Create: JSON.stringify({
          action: 'replicateSecretToRegions',
          parameters: { AddReplicaRegions: [{}] },
        }),
      },
      'Create.parameters.AddReplicaRegions',
    ),
  },
  harmless: {
    'a secret': { build: (stack) => new secretsmanager.Secret(stack, 'Secret') },
  },
};

export const bucketReplication: RuleCases = {
  hostile: {
    'a bucket that is copied': {
      build: (stack) => {
        const copy = new s3.Bucket(stack, 'Copy', { versioned: true });
        new s3.Bucket(stack, 'Bucket', {
          versioned: true,
          replicationRules: [{ destination: copy as s3.IBucket }],
        });
      },
      path: 'Test/Bucket/Resource',
      refusal:
        'Properties.ReplicationConfiguration is {"Role":{"Fn::GetAtt":["BucketReplicationRoleFD21F544","Arn"]},"Rules":[{"DeleteMarkerReplication":{"Status":"Disabled"},"Destination',
    },
    'a multi-region access point': refusedType('AWS::S3::MultiRegionAccessPoint', {
      Regions: [{ Bucket: 'bucket' }],
    }),
  },
  harmless: {
    'a bucket': { build: (stack) => new s3.Bucket(stack, 'Bucket', { versioned: true }) },
  },
};

const partitionKey = { name: 'id', type: dynamodb.AttributeType.STRING };

export const globalTable: RuleCases = {
  hostile: {
    "a replica in the environment's other region": {
      build: (stack) =>
        new dynamodb.TableV2(stack, 'Table', { partitionKey, replicas: [{ region: 'eu-west-1' }] }),
      boundary: twoRegions,
      path: 'Test/Table/Resource',
      refusal: 'Properties.Replicas.0.Region is "eu-west-1"',
    },
    'a replica of the older kind': {
      build: (stack) =>
        new CfnResource(stack, 'Replica', {
          type: 'Custom::DynamoDBReplica',
          properties: { Region: 'eu-west-1' },
        }),
      boundary: twoRegions,
      path: 'Test/Replica',
      refusal: 'Type is "Custom::DynamoDBReplica"',
    },
  },
  harmless: {
    'a table': {
      build: (stack) => {
        new dynamodb.TableV2(stack, 'New', { partitionKey, removalPolicy: RemovalPolicy.DESTROY });
        new dynamodb.Table(stack, 'Old', { partitionKey });
      },
    },
  },
};

export const globalDatabase: RuleCases = {
  hostile: {
    'a global database where there is one region': {
      build: (stack) => new rds.CfnGlobalCluster(stack, 'Global', { engine: 'aurora-postgresql' }),
      path: 'Test/Global',
      refusal: 'Type is "AWS::RDS::GlobalCluster"',
    },
    'a member of a global database where there is one region': {
      build: (stack) =>
        new rds.CfnDBCluster(stack, 'Member', {
          engine: 'aurora-postgresql',
          globalClusterIdentifier: 'wallet',
        }),
      path: 'Test/Member',
      refusal: 'Properties.GlobalClusterIdentifier is "wallet"',
    },
  },
  harmless: {
    'a global database where there are two regions': {
      build: (stack) => {
        const cluster = new rds.CfnDBCluster(stack, 'Cluster', { engine: 'aurora-postgresql' });
        new rds.CfnGlobalCluster(stack, 'Global', { sourceDbClusterIdentifier: cluster.attrDbClusterArn });
      },
      boundary: twoRegions,
    },
    'a cluster where there is one region': {
      build: (stack) => new rds.CfnDBCluster(stack, 'Cluster', { engine: 'aurora-postgresql' }),
    },
  },
};

export const multiRegionStore: RuleCases = {
  hostile: {
    'a cache over regions': refusedType('AWS::ElastiCache::GlobalReplicationGroup', { Members: [] }),
    'a file system that is copied': refusedProperty(
      'AWS::EFS::FileSystem',
      { ReplicationConfiguration: { Destinations: [{}] } },
      'ReplicationConfiguration',
    ),
    'a keyspace over regions': refusedProperty(
      'AWS::Cassandra::Keyspace',
      {
        ReplicationSpecification: { ReplicationStrategy: 'MULTI_REGION' },
      },
      'ReplicationSpecification',
    ),
  },
  harmless: {
    'the same within the region': {
      build: (stack) => {
        new CfnResource(stack, 'Cache', { type: 'AWS::ElastiCache::ReplicationGroup' });
        new CfnResource(stack, 'Files', { type: 'AWS::EFS::FileSystem' });
        new CfnResource(stack, 'Keyspace', { type: 'AWS::Cassandra::Keyspace' });
      },
    },
  },
};
