import { RemovalPolicy } from 'aws-cdk-lib';
import { type CfnDBCluster, CfnGlobalCluster, type DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import type { IConstruct } from 'constructs';
import type { Environment } from '../environment';
import { withStableLogicalId } from '../stable-logical-id';
import { takeNamesFromData } from './restore';

/**
 * Makes a cluster that serves a member of its environment's global database, if there is one: its primary, which the
 * standby's replica joins, or the replica that a promotion has made the primary.
 */
export function joinGlobalDatabase(cluster: DatabaseCluster, { standby, database }: Environment): void {
  if (standby) {
    const globalCluster = new CfnGlobalCluster(cluster, 'GlobalCluster', {
      globalClusterIdentifier: standby.globalClusterIdentifier,
      // Not the other way round, by the cluster's `GlobalClusterIdentifier`: a cluster that exists cannot get one.
      // https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds (ImmutabilityHelper of DBCluster)
      sourceDbClusterIdentifier: cluster.clusterArn,
      deletionProtection: database.deletionProtection,
    });
    withStableLogicalId(globalCluster, 'DatabaseGlobalCluster');
    globalCluster.applyRemovalPolicy(RemovalPolicy.RETAIN);
    // A primary needs its writer before it can be copied from.
    globalCluster.node.addDependency(...instancesOf(cluster));
  }
  if (database.replicaOf !== undefined) {
    const resource = cluster.node.defaultChild as CfnDBCluster;
    resource.globalClusterIdentifier = database.replicaOf;
    takeNamesFromData(resource);
  }
}

/** The constructs of a cluster's instances: `Writer`, `Reader1`, … */
export function instancesOf(cluster: DatabaseCluster): readonly IConstruct[] {
  return cluster.node.children.filter(({ node }) => /^(Writer|Reader\d+)$/.test(node.id));
}
