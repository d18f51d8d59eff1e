import { CfnResource, NestedStack, RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { only, twoRegions } from '../refusals';
import type { RuleCases } from './case';

export const multiRegionKey: RuleCases = {
  hostile: {
    'a multi-region key': {
      build: (stack) => {
        new kms.Key(stack, 'Key', { multiRegion: true });
      },
      path: 'Test/Key/Resource',
      at: 'Properties.MultiRegion',
      value: 'true',
    },
    'a multi-region key in a nested stack': {
      build: (stack) => {
        new kms.Key(new NestedStack(new NestedStack(stack, 'Nested'), 'Within'), 'Key', {
          multiRegion: true,
        });
      },
      path: 'Test/Nested/Within/Key/Resource',
      at: 'Properties.MultiRegion',
      value: 'true',
    },
    'a key that a condition makes multi-region': {
      build: only('AWS::KMS::Key', { MultiRegion: { 'Fn::If': ['Anything', true, false] } }),
      path: 'Test/It',
      at: 'Properties.MultiRegion.Fn::If.1',
      value: 'true',
    },
    "a replica of another region's key": {
      build: only('AWS::KMS::ReplicaKey', { PrimaryKeyArn: 'arn:aws:kms:eu-west-1:1:key/mrk-1' }),
      boundary: twoRegions,
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::KMS::ReplicaKey',
    },
  },
  harmless: {
    'a key of the region': {
      build: (stack) => {
        new kms.Key(stack, 'Key', { multiRegion: false });
      },
    },
  },
};

export const secretReplica: RuleCases = {
  hostile: {
    "a replica in the environment's other region": {
      build: (stack) => {
        new secretsmanager.Secret(stack, 'Secret', { replicaRegions: [{ region: 'eu-west-1' }] });
      },
      boundary: twoRegions,
      path: 'Test/Secret/Resource',
      at: 'Properties.ReplicaRegions',
      value: 'eu-west-1',
    },
    "a custom resource's replication": {
      build: only('Custom::AWS', {
        Create: JSON.stringify({
          action: 'replicateSecretToRegions',
          parameters: { AddReplicaRegions: [{}] },
        }),
      }),
      path: 'Test/It',
      at: 'Properties.Create.parameters.AddReplicaRegions',
      value: '[{}]',
    },
  },
  harmless: {
    'a secret': {
      build: (stack) => {
        new secretsmanager.Secret(stack, 'Secret');
      },
    },
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
      at: 'Properties.ReplicationConfiguration',
      value: 'Destination',
    },
    'a multi-region access point': {
      build: only('AWS::S3::MultiRegionAccessPoint', { Regions: [{ Bucket: 'bucket' }] }),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::S3::MultiRegionAccessPoint',
    },
  },
  harmless: {
    'a bucket': {
      build: (stack) => {
        new s3.Bucket(stack, 'Bucket', { versioned: true });
      },
    },
  },
};

const partitionKey = { name: 'id', type: dynamodb.AttributeType.STRING };

export const globalTable: RuleCases = {
  hostile: {
    "a replica in the environment's other region": {
      build: (stack) => {
        new dynamodb.TableV2(stack, 'Table', { partitionKey, replicas: [{ region: 'eu-west-1' }] });
      },
      boundary: twoRegions,
      path: 'Test/Table/Resource',
      at: 'Properties.Replicas.0.Region',
      value: 'eu-west-1',
    },
    'a replica of the older kind': {
      build: (stack) => {
        new CfnResource(stack, 'Replica', {
          type: 'Custom::DynamoDBReplica',
          properties: { Region: 'eu-west-1' },
        });
      },
      boundary: twoRegions,
      path: 'Test/Replica',
      at: 'Type',
      value: 'Custom::DynamoDBReplica',
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
      build: (stack) => {
        new rds.CfnGlobalCluster(stack, 'Global', { engine: 'aurora-postgresql' });
      },
      path: 'Test/Global',
      at: 'Type',
      value: 'AWS::RDS::GlobalCluster',
    },
    'a member of a global database where there is one region': {
      build: (stack) => {
        new rds.CfnDBCluster(stack, 'Member', {
          engine: 'aurora-postgresql',
          globalClusterIdentifier: 'wallet',
        });
      },
      path: 'Test/Member',
      at: 'Properties.GlobalClusterIdentifier',
      value: 'wallet',
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
      build: (stack) => {
        new rds.CfnDBCluster(stack, 'Cluster', { engine: 'aurora-postgresql' });
      },
    },
  },
};

export const multiRegionStore: RuleCases = {
  hostile: {
    'a cache over regions': {
      build: only('AWS::ElastiCache::GlobalReplicationGroup', { Members: [] }),
      path: 'Test/It',
      at: 'Type',
      value: 'AWS::ElastiCache::GlobalReplicationGroup',
    },
    'a file system that is copied': {
      build: only('AWS::EFS::FileSystem', { ReplicationConfiguration: { Destinations: [{}] } }),
      path: 'Test/It',
      at: 'Properties.ReplicationConfiguration',
      value: 'Destinations',
    },
    'a keyspace over regions': {
      build: only('AWS::Cassandra::Keyspace', {
        ReplicationSpecification: { ReplicationStrategy: 'MULTI_REGION' },
      }),
      path: 'Test/It',
      at: 'Properties.ReplicationSpecification',
      value: 'MULTI_REGION',
    },
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
