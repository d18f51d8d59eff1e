import { Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Api } from '../api/api';
import { webAclMetricName } from '../api/web-acl';
import type { Dashboard } from '../dashboard/dashboard';
import type { Environment } from '../environment';
import { type AlarmRow, BREACHING, maximum, period, type Row, sum } from './alarms';
import type { LogMetrics } from './log-metrics';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
export function apiRow(api: Api, { throttled }: LogMetrics): Row {
  const stage = api.restApi.deploymentStage;
  const errors: AlarmRow = {
    name: 'api-errors',
    description: 'The API returned 5xx for at least 5 percent of requests, or for 5 of at most 100 requests.',
    metric: new MathExpression({
      expression: 'IF(requests > 100, 100 * errors / requests, errors)',
      usingMetrics: { requests: stage.metricCount(sum), errors: stage.metricServerError(sum) },
      period,
    }),
    threshold: 5,
  };
  const latency: AlarmRow = {
    name: 'api-latency',
    description: 'The p99 latency of the API has been two seconds or more for 15 minutes.',
    metric: stage.metricLatency({ period, statistic: 'p99' }),
    threshold: 2_000,
    evaluationPeriods: 3,
  };
  const throttling: AlarmRow = {
    name: 'api-throttling',
    description: 'Requests exceed the rate limit of the stage: 100 were rejected in five minutes.',
    metric: throttled,
    threshold: 100,
  };
  const firewall: AlarmRow = {
    name: 'firewall-blocks',
    description: 'The firewall blocked 500 requests in five minutes: an attack, or false positives.',
    // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
    metric: new Metric({
      namespace: 'AWS/WAFV2',
      metricName: 'BlockedRequests',
      dimensionsMap: { WebACL: webAclMetricName, Region: Stack.of(api).region, Rule: 'ALL' },
      ...sum,
    }),
    threshold: 500,
  };
  return {
    title: 'API',
    graphs: [
      {
        title: 'Requests',
        metrics: [
          stage.metricCount({ ...sum, label: 'All' }),
          stage.metricClientError({ ...sum, label: '4xx' }),
          stage.metricServerError({ ...sum, label: '5xx' }),
        ],
      },
      { title: 'Errors', unit: 'percent; count up to 100 requests', alarms: [errors] },
      {
        title: 'Latency',
        unit: 'ms',
        metrics: [
          stage.metricLatency({ period, statistic: 'p50', label: 'p50' }),
          stage.metricIntegrationLatency({ period, statistic: 'p99', label: 'p99 of the function' }),
        ],
        alarms: [latency],
      },
      { title: 'Throttled and blocked', alarms: [throttling, firewall] },
    ],
  };
}

export const deletionsRow = ({ deletions, refusals, gatewayResponses }: LogMetrics): Row => ({
  title: 'Deletions and refusals',
  graphs: [
    { title: 'User groups deleted', metrics: [deletions] },
    { title: 'Refusals by code', metrics: [refusals] },
    { title: "API Gateway's own responses by type", metrics: [gatewayResponses] },
  ],
});

export interface WatchedFunction {
  readonly lambda: LambdaFunction;
  /** Failed invocations in a quarter of an hour that raise the alarm. @default 3 */
  readonly threshold?: number;
}

/**
 * Functions that crash, time out or do not start. Lambda does not count expected failures, such as `database_unavailable`, as
 * errors. https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
export function functionsRow(
  functions: Readonly<Record<string, WatchedFunction>>,
  { restApi }: Dashboard,
): Row {
  const throttles = Object.values(functions).map(
    ({ lambda }, index) => [`m${index}`, lambda.metricThrottles({ statistic: 'Sum' })] as const,
  );
  const errors = Object.entries(functions).map(
    ([name, { lambda, threshold = 3 }]): AlarmRow => ({
      name: `function-errors-${name}`,
      runbookAnchor: 'function-errors',
      description: `The function ${name} crashed or timed out ${threshold === 1 ? 'once' : `${threshold} times`} in 15 minutes.`,
      metric: lambda.metricErrors({ period: Duration.minutes(15), statistic: 'Sum' }),
      threshold,
    }),
  );
  const throttling: AlarmRow = {
    name: 'function-throttling',
    description: "Lambda throttled invocations: the account's limit of concurrent executions is reached.",
    metric: new MathExpression({
      // FILL: a function that was not invoked has no data.
      expression: throttles.map(([name]) => `FILL(${name}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(throttles),
      period,
    }),
    threshold: 1,
  };
  const dashboard: AlarmRow = {
    name: 'dashboard-errors',
    description: 'The dashboard returned 5xx five times in five minutes.',
    metric: restApi.deploymentStage.metricServerError(sum),
    threshold: 5,
  };
  return {
    title: 'Functions and dashboard',
    graphs: [
      { title: 'Errors', unit: 'in 15 minutes', alarms: errors },
      { title: 'Throttled', alarms: [throttling] },
      { title: 'Dashboard errors', alarms: [dashboard] },
    ],
  };
}

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html */
export function databaseRow({ database, standby, throttle }: Environment, clusterIdentifier: string): Row {
  const ofCluster = (metricName: string) => rdsMetric(metricName, { DBClusterIdentifier: clusterIdentifier });
  const capacity: AlarmRow = {
    name: 'database-capacity',
    description:
      'The database has used at least 80 percent of its maximum capacity for 15 minutes, or reports no data.',
    metric: ofCluster('ACUUtilization'),
    threshold: 80,
    evaluationPeriods: 3,
    // Instances report every minute: missing data means no instance.
    treatMissingData: BREACHING,
  };
  const connections: AlarmRow = {
    name: 'database-connections',
    description: "The database has had more connections for 15 minutes than the API's rate limit can cause.",
    metric: ofCluster('DatabaseConnections'),
    // A function has one connection at most. PostgreSQL's own limit is far above (5,000 at 32 capacity units).
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
    threshold: throttle.burst,
    evaluationPeriods: 3,
  };
  const storage: AlarmRow = {
    name: 'database-storage',
    description:
      'The database stores 500 GiB, far more than expected for its organizations and 31 days of attempts.',
    metric: ofCluster('VolumeBytesUsed'),
    threshold: 500 * 1024 ** 3,
  };
  const replication: AlarmRow = {
    name: 'database-replication',
    description:
      'A reader has been a second or more behind the writer for 15 minutes, or no reader is available for failover.',
    // By role, not by instance: at a failover a reader becomes the writer.
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/creating_alarms.html
    metric: rdsMetric('AuroraReplicaLag', { DBClusterIdentifier: clusterIdentifier, Role: 'READER' }),
    threshold: 1_000,
    evaluationPeriods: 3,
    treatMissingData: BREACHING,
  };
  return {
    title: 'Database',
    graphs: [
      { title: 'Capacity used', unit: 'percent of the maximum', alarms: [capacity] },
      { title: 'Connections', unit: 'connections', alarms: [connections] },
      { title: 'Storage', unit: 'bytes', alarms: [storage] },
      {
        title: 'Replication',
        unit: 'ms behind the writer',
        metrics: standby ? [lagOfStandby(standby.region)] : [],
        alarms: database.readers > 0 ? [replication] : [],
      },
    ],
  };
}

/**
 * Replication lag of a standby: what a promotion would lose. The guide documents this metric for every secondary of Aurora
 * PostgreSQL; AWS's lab finds it by `SourceRegion`. An alarm or a search matches the exact set of dimensions.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html
 * https://awsauroralabsmy.com/global/cw/
 */
const standbyLag = 'AuroraGlobalDBRPOLag';

export const standbyReplication = (clusterIdentifier: string, sourceRegion: string): AlarmRow => ({
  name: 'standby-replication',
  description:
    'The standby in the second region has been 30 seconds or more behind for 15 minutes, or reports no data.',
  metric: rdsMetric(standbyLag, { DBClusterIdentifier: clusterIdentifier, SourceRegion: sourceRegion }),
  threshold: 30_000,
  evaluationPeriods: 3,
  // Replication may have stopped. docs/runbook.md says what to do if it never reports without instances.
  treatMissingData: BREACHING,
});

/** Uses a search: only the standby's stack knows the cluster's name. */
const lagOfStandby = (region: string) =>
  new SearchExpression({
    expression: `SEARCH('{AWS/RDS,DBClusterIdentifier,SourceRegion} MetricName="${standbyLag}"', 'Maximum')`,
    label: `Standby in ${region}`,
    period,
    searchRegion: region,
  });

const rdsMetric = (metricName: string, dimensionsMap: Record<string, string>) =>
  new Metric({ namespace: 'AWS/RDS', metricName, dimensionsMap, ...maximum });
