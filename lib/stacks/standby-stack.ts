import { Construct } from 'constructs';
import { DatabaseCluster } from '../database/cluster';
import type { Environment, Standby } from '../environment';
import { StandbyMonitoring } from '../monitoring/monitoring';
import { OperationsKey } from '../monitoring/operations-key';
import { StandbyNetwork } from '../network/network';
import { EnvironmentStack } from './environment-stack';

export interface StandbyStackProps {
  readonly environment: Environment;
  readonly standby: Standby;
  /** The AWS account that the environment is deployed to. @default - decided by the deployer's credentials */
  readonly account?: string | undefined;
}

/**
 * The second region of an environment: a replica of its data and a network to serve from, and nothing that serves.
 * What it has, it has under the logical ids of a region that serves: promoted, it becomes a `RegionStack` by an update.
 */
export class StandbyStack extends EnvironmentStack {
  constructor(
    scope: Construct,
    { environment: { standby: _, ...served }, standby, account }: StandbyStackProps,
  ) {
    const { stackId, region, zones, vpcCidr, globalClusterIdentifier } = standby;
    // Its data comes from the primary, restored or not: promoted, it has a row without `restoreFrom`.
    const { restoreFrom, ...size } = served.database;
    const environment: Environment = { ...served, stackId, region, zones, vpcCidr, database: size };
    super(scope, `standby of ${environment.purpose}`, { environment, account });

    const operationsKey = new OperationsKey(this, 'OperationsKey', { environment });
    const { vpc } = new StandbyNetwork(this, 'Network', { environment });
    // Stands where `RegionDatabase` has its cluster: logical ids follow from that.
    const database = new Construct(this, 'Database');
    const replica = new DatabaseCluster(database, 'Cluster', { environment, standby, vpc });

    if (environment.serviceLevelAgreement) {
      const { topicArn } = new StandbyMonitoring(this, 'Monitoring', {
        environment,
        key: operationsKey,
        clusterIdentifier: replica.identifier,
        sourceRegion: served.region,
      });
      this.output('AlarmTopicArn', 'Alarms are published here', topicArn);
    }

    this.output('DatabaseClusterArn', 'The Aurora cluster that a promotion makes the primary', replica.arn);
    this.output('GlobalClusterIdentifier', 'The global database that it belongs to', globalClusterIdentifier);
  }
}
