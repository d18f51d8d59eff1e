import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Environment } from '../environment';
import type { Alarms } from './alarms';

const period = Duration.minutes(5);
const comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
const gibibyte = 1024 ** 3;

/**
 * The cluster's reserves: capacity, connections, storage, and readers that could take over.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html
 */
export function watchDatabase(alarms: Alarms, clusterIdentifier: string, environment: Environment): void {
  const ofCluster = (metricName: string, statistic: string) =>
    rdsMetric(metricName, statistic, { DBClusterIdentifier: clusterIdentifier });
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
  if (environment.database.readers > 0) {
    alarms.add('database-replication', {
      meaning:
        'A reader has been more than a second behind the writer for a quarter of an hour, or there is none: nothing could take over.',
      // By role, not by instance: at a failover a reader becomes the writer.
      // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/creating_alarms.html
      metric: rdsMetric('AuroraReplicaLag', 'Maximum', {
        DBClusterIdentifier: clusterIdentifier,
        Role: 'READER',
      }),
      comparison,
      threshold: 1_000,
      periods: 3,
      missing: TreatMissingData.BREACHING,
    });
  }
}

/**
 * How far a standby is behind its primary: what a promotion would lose. The guide names this metric for every secondary of
 * Aurora PostgreSQL; AWS's lab finds it by `SourceRegion`. An alarm or a search matches the exact set of dimensions.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html
 * https://awsauroralabsmy.com/global/cw/
 */
export const standbyLag = {
  metricName: 'AuroraGlobalDBRPOLag',
  dimensionNames: ['DBClusterIdentifier', 'SourceRegion'],
} as const;

export interface WatchedReplica {
  readonly clusterIdentifier: string;
  /** Where the primary is. */
  readonly sourceRegion: string;
}

export function watchReplica(alarms: Alarms, { clusterIdentifier, sourceRegion }: WatchedReplica): void {
  alarms.add('standby-replication', {
    meaning:
      'The replica in the second region has been more than 30 seconds behind for a quarter of an hour, or reports nothing.',
    metric: rdsMetric(standbyLag.metricName, 'Maximum', {
      DBClusterIdentifier: clusterIdentifier,
      SourceRegion: sourceRegion,
    }),
    comparison,
    threshold: 30_000,
    periods: 3,
    // The only copy in another region may have stopped. docs/runbook.md says what to do if it never reports without instances.
    missing: TreatMissingData.BREACHING,
  });
}

function rdsMetric(metricName: string, statistic: string, dimensionsMap: Record<string, string>): Metric {
  return new Metric({ namespace: 'AWS/RDS', metricName, statistic, dimensionsMap, period });
}
