import { Duration } from 'aws-cdk-lib';
import { MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmRow, Watched } from './alarms';
import type { LogMetrics } from './log-metrics';
import { awsMetric } from './metrics';

const { BREACHING } = TreatMissingData;

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html */
export function databaseAlarms(
  { environment, clusterIdentifier, probe }: Watched,
  { oldestExpired }: LogMetrics,
): readonly AlarmRow[] {
  const { database, throttle } = environment;
  const purge = { period: Duration.hours(1), late: 6 * 3_600 };
  const ofCluster = { DBClusterIdentifier: clusterIdentifier };
  const replication: AlarmRow = {
    name: 'database-replication',
    description:
      'A reader has been a second or more behind the writer for 15 minutes, or no reader is available for failover.',
    // By role, not by instance: at a failover a reader becomes the writer.
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/creating_alarms.html
    metric: awsMetric('RDS', 'AuroraReplicaLag', { ...ofCluster, Role: 'READER' }),
    threshold: 1_000,
    evaluationPeriods: 3,
    treatMissingData: BREACHING,
    unit: 'ms behind the writer',
  };
  return [
    {
      name: 'database-capacity',
      description:
        'The database has used at least 80 percent of its maximum capacity for 15 minutes, or reports no data.',
      metric: awsMetric('RDS', 'ACUUtilization', ofCluster),
      threshold: 80,
      evaluationPeriods: 3,
      // Instances report every minute: missing data means no instance.
      treatMissingData: BREACHING,
      unit: 'percent of the maximum',
    },
    {
      name: 'database-connections',
      description:
        "The database has had more connections for 15 minutes than the API's rate limit can cause.",
      metric: awsMetric('RDS', 'DatabaseConnections', ofCluster),
      // A function has one connection at most. PostgreSQL's own limit is far above (5,000 at 32 capacity units).
      // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
      threshold: throttle.burst,
      evaluationPeriods: 3,
      unit: 'connections',
    },
    {
      name: 'purge-behind',
      description:
        'For three hours the hourly purge has left rows that expired six hours ago or more, or has not run.',
      // An hour with probes and without a run is late (see metrics.ts). Before the stack's first probe, nothing is expected.
      metric: new MathExpression({
        expression: `IF(0 * probes + runs < 1, ${purge.late}, oldest)`,
        usingMetrics: {
          probes: probe.metricInvocations({ statistic: 'Sum' }),
          runs: oldestExpired.with({ statistic: 'SampleCount' }),
          oldest: oldestExpired,
        },
        period: purge.period,
      }),
      threshold: purge.late,
      evaluationPeriods: 3,
      unit: 's since the oldest expired',
    },
    ...(database.readers > 0 ? [replication] : []),
  ];
}

/**
 * The one alarm of a standby region: its replication lag, which is what a promotion would lose. The guide documents the
 * metric for every secondary of Aurora PostgreSQL; AWS's lab finds it by `SourceRegion`. An alarm matches the exact set of dimensions.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html
 * https://awsauroralabsmy.com/global/cw/
 */
export const standbyReplication = (clusterIdentifier: string, sourceRegion: string): AlarmRow => ({
  name: 'standby-replication',
  description:
    'The standby in the second region has been 30 seconds or more behind for 15 minutes, or reports no data.',
  metric: awsMetric('RDS', 'AuroraGlobalDBRPOLag', {
    DBClusterIdentifier: clusterIdentifier,
    SourceRegion: sourceRegion,
  }),
  threshold: 30_000,
  evaluationPeriods: 3,
  // Replication may have stopped. docs/runbook/alarms.md says what to do if it never reports without instances.
  treatMissingData: BREACHING,
});
