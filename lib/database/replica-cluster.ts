import type { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements';
import type { Standby } from '../environment/schema';
import { DatabaseCluster, type DatabaseClusterProps } from './cluster';

export interface ReplicaClusterProps extends DatabaseClusterProps {
  readonly standby: Pick<Standby, 'globalClusterIdentifier' | 'instances'>;
}

/**
 * A standby's replica in a global database: storage, and no instances until it is about to be promoted.
 *
 * Not protected, since its data is also in the primary: RDS refuses to delete a member of a global database, and CloudFormation, which
 * removes it first, could not roll back the creation of a protected one (docs/decisions/standby.md).
 */
export class ReplicaCluster extends DatabaseCluster {
  /** @param props its `environment` is the one served from the standby's region */
  constructor(scope: Construct, id: string, { standby, ...props }: ReplicaClusterProps) {
    super(scope, id, props, { isRetained: false, instances: standby.instances ?? 0 });
    this.cluster.globalClusterIdentifier = standby.globalClusterIdentifier;
    this.cluster.enableGlobalWriteForwarding = false;
    acknowledge(this.cluster, 'clusterWithoutClients');
    acknowledge(this.cluster, 'replica');
  }
}
