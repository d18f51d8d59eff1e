import { RemovalPolicy } from 'aws-cdk-lib';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { CfnDBCluster, CfnDBInstance } from 'aws-cdk-lib/aws-rds';
import { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements/acknowledge';
import { acknowledgeInstance } from '../checks/acknowledgements/database';
import type { Environment, Standby } from '../environment';
import { withStableLogicalId } from '../stable-logical-id';
import { DatabaseFoundation, databaseEngine, databasePort, databaseVersion } from './foundation';

export interface DatabaseReplicaProps {
  /** As it would serve from the standby's region. */
  readonly environment: Environment;
  readonly standby: Standby;
  readonly vpc: IVpc;
}

/**
 * A secondary of an Aurora Global Database: a cluster whose storage follows the primary's, encrypted with a key of its
 * own region. It has no instances until it is about to be promoted: storage is replicated without them.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-attach.console.headless.html
 */
export class DatabaseReplica extends Construct {
  readonly clusterArn: string;
  readonly clusterIdentifier: string;

  constructor(scope: Construct, id: string, { environment, standby, vpc }: DatabaseReplicaProps) {
    super(scope, id);
    const { capacity, backupRetentionDays, deletionProtection } = environment.database;
    // The data is in the primary. Once promoted, the policies of a region that serves hold.
    const removalPolicy = RemovalPolicy.DESTROY;
    const foundation = new DatabaseFoundation(this, 'Foundation', { environment, vpc, removalPolicy });
    const cluster = withStableLogicalId(
      // Neither owner nor database: they come with the data, and RDS refuses them for a secondary.
      new CfnDBCluster(this, 'Cluster', {
        globalClusterIdentifier: standby.globalClusterIdentifier,
        enableGlobalWriteForwarding: false,
        dbClusterIdentifier: foundation.clusterIdentifier,
        engine: databaseEngine.engineType,
        engineVersion: databaseVersion.auroraPostgresFullVersion,
        port: databasePort,
        dbSubnetGroupName: foundation.subnetGroup.subnetGroupName,
        vpcSecurityGroupIds: [foundation.securityGroup.securityGroupId],
        dbClusterParameterGroupName: foundation.parameterGroup.bindToCluster({}).parameterGroupName,
        storageEncrypted: true,
        kmsKeyId: foundation.key.keyArn,
        serverlessV2ScalingConfiguration: { minCapacity: capacity.minimum, maxCapacity: capacity.maximum },
        enableCloudwatchLogsExports: foundation.exportedLogs,
        backupRetentionPeriod: backupRetentionDays,
        copyTagsToSnapshot: true,
        deletionProtection,
      }),
      'DatabaseCluster',
    );
    cluster.node.addDependency(...foundation.logGroups);
    cluster.applyRemovalPolicy(removalPolicy);
    acknowledge(
      cluster,
      ['AwsSolutions-RDS6'],
      'Nobody can connect: it has no instance and admits no security group. Promoted, it has the ways in of a region that serves.',
    );
    this.clusterArn = cluster.attrDbClusterArn;
    this.clusterIdentifier = cluster.ref;
    for (const instance of this.createInstances({ cluster, foundation, environment, standby, vpc })) {
      instance.applyRemovalPolicy(removalPolicy);
      acknowledgeInstance(instance, environment);
    }
  }

  /** As `DatabaseCluster` would have them: a promoted cluster keeps its instances. */
  private createInstances(context: InstanceContext): readonly CfnDBInstance[] {
    const { cluster, foundation, environment, standby } = context;
    const instances = Array.from({ length: standby.instances ?? 0 }, (_, index) => {
      const name = index === 0 ? 'Writer' : `Reader${index}`;
      return withStableLogicalId(
        new CfnDBInstance(this, name, {
          dbClusterIdentifier: cluster.ref,
          engine: databaseEngine.engineType,
          dbInstanceClass: 'db.serverless',
          availabilityZone: environment.zones[index % environment.zones.length] ?? '',
          promotionTier: Math.min(index, 1),
          publiclyAccessible: false,
          autoMinorVersionUpgrade: false,
          enablePerformanceInsights: true,
          performanceInsightsRetentionPeriod: 7,
          performanceInsightsKmsKeyId: foundation.key.keyArn,
        }),
        `Database${name}`,
      );
    });
    const [writer, ...readers] = instances;
    for (const reader of readers) reader.addResourceDependency(writer as CfnDBInstance);
    return instances;
  }
}

interface InstanceContext extends DatabaseReplicaProps {
  readonly cluster: CfnDBCluster;
  readonly foundation: DatabaseFoundation;
}
