import { Construct } from 'constructs';
import { ReplicaCluster } from '../database/replica-cluster';
import type { Environment, Standby } from '../environment/schema';
import { standbyReplication } from '../monitoring/alarm-table';
import { Alarms } from '../monitoring/alarms';
import { OperationsKey } from '../monitoring/operations-key';
import { Network } from '../network/network';
import { EnvironmentStack, type EnvironmentStackProps } from './environment-stack';

export interface StandbyStackProps extends EnvironmentStackProps {
  readonly standby: Standby;
}

/**
 * The second region of an environment: a network and a replica of the data, without the service. Uses `RegionStack`'s logical
 * ids, so that a promotion is an update.
 */
export class StandbyStack extends EnvironmentStack {
  constructor(scope: Construct, { environment: serving, standby, account }: StandbyStackProps) {
    const { stackId, region, zones, vpcCidr, globalClusterIdentifier } = standby;
    const { standby: _, ...row } = serving;
    // Even with `restoreFrom`, its data comes from the primary.
    const { restoreFrom, ...database } = row.database;
    const environment: Environment = { ...row, stackId, region, zones, vpcCidr, database };
    super(scope, `standby of ${environment.title}`, { environment, account });

    const key = new OperationsKey(this, 'OperationsKey', { environment });
    const { vpc } = new Network(this, 'Network', { environment, isStandby: true });
    // The same scope as in `RegionStack`, for the same logical ids.
    const scopeOfCluster = new Construct(this, 'Database');
    const replica = new ReplicaCluster(scopeOfCluster, 'Cluster', { environment, standby, vpc });
    if (environment.serviceLevelAgreement) {
      const alarms = [standbyReplication(replica.identifier, serving.region)];
      const scopeOfAlarms = new Construct(this, 'Monitoring');
      const { topicArn } = new Alarms(scopeOfAlarms, 'Alarms', { environment, key, alarms });
      this.addOutputs({ AlarmTopicArn: ['SNS topic to which alarms are published', topicArn] });
    }
    this.addOutputs({
      DatabaseClusterArn: ['The Aurora cluster that a promotion makes the primary', replica.arn],
      GlobalClusterIdentifier: ['The global database of the cluster', globalClusterIdentifier],
    });
  }
}
