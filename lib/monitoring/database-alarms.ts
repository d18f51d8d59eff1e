import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { DatabaseInstances } from '../database/cluster';
import type { Environment } from '../environment/environment';
import type { Alarms } from './alarms';

const period = Duration.minutes(5);
const comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
const gibibyte = 1024 ** 3;

/**
 * The cluster's reserves: capacity, connections, storage, and readers that could take over.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html
 */
export function watchDatabase(alarms: Alarms, database: DatabaseInstances, environment: Environment): void {
  const ofCluster = (metricName: string, statistic: string) =>
    rdsMetric(metricName, statistic, { DBClusterIdentifier: database.clusterIdentifier });
  alarms.add('database-capacity', {
    meaning:
      'The database has been at 80 percent of its highest capacity for a quarter of an hour, or reports none.',
    metric: ofCluster('ACUUtilization', 'Maximum'),
    comparison,
    threshold: 80,
    periods: 3,
    // Instances report every minute: silence means that there is none.
    missing: TreatMissingData.BREACHING,
  });
  alarms.add('database-connections', {
    meaning:
      'The database has more connections than functions that the API starts at its highest admitted load.',
    metric: ofCluster('DatabaseConnections', 'Maximum'),
    comparison,
    // A function has one connection at most. PostgreSQL's own limit is far above (5,000 at 32 capacity units).
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
    threshold: environment.throttle.burst,
    periods: 3,
    missing: TreatMissingData.NOT_BREACHING,
  });
  alarms.add('database-storage', {
    meaning:
      'The database stores 500 GiB, much more than attempts of 31 days and the records of organizations need.',
    metric: ofCluster('VolumeBytesUsed', 'Maximum'),
    comparison,
    threshold: 500 * gibibyte,
    missing: TreatMissingData.NOT_BREACHING,
  });
  database.readerIdentifiers.forEach((identifier, index) => {
    alarms.add(`database-replication-${index + 1}`, {
      heading: 'database-replication',
      meaning: `Reader ${index + 1} has been more than a second behind the writer for a quarter of an hour, or is gone: it could not take over.`,
      metric: rdsMetric('AuroraReplicaLag', 'Average', { DBInstanceIdentifier: identifier }),
      comparison,
      threshold: 1_000,
      periods: 3,
      missing: TreatMissingData.BREACHING,
    });
  });
}

/** How far the second region is behind; what a promotion would lose. */
export function watchReplica(alarms: Alarms, clusterIdentifier: string): void {
  alarms.add('standby-replication', {
    meaning:
      'The replica in the second region has been more than 30 seconds behind for a quarter of an hour.',
    // What the guide names for every secondary of Aurora PostgreSQL; both are metrics of a cluster, not of its instances.
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html
    metric: rdsMetric('AuroraGlobalDBRPOLag', 'Maximum', { DBClusterIdentifier: clusterIdentifier }),
    comparison,
    threshold: 30_000,
    periods: 3,
    // No account has shown yet that a cluster without instances reports it: silence leaves the alarm undecided, which shows.
    missing: TreatMissingData.MISSING,
  });
}

function rdsMetric(metricName: string, statistic: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace: 'AWS/RDS', metricName, statistic, dimensionsMap, period });
}
