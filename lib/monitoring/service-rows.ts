import { Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Api } from '../api/api';
import { webAclMetricName } from '../api/web-acl';
import type { RegionDashboard } from '../dashboard/region-dashboard';
import type { Environment } from '../environment';
import type { LogMetrics } from './log-metrics';
import { type AlarmProps, BREACHING, maximum, period, perPeriod, type Row, sum } from './watched';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
export function apiRow(api: Api, { throttled }: LogMetrics): Row {
  const stage = api.restApi.deploymentStage;
  return {
    title: 'API',
    graphs: [
      {
        title: 'Requests',
        unit: perPeriod,
        metrics: [
          stage.metricCount({ ...sum, label: 'All' }),
          stage.metricClientError({ ...sum, label: '4xx' }),
          stage.metricServerError({ ...sum, label: '5xx' }),
        ],
      },
      {
        title: 'Errors',
        unit: 'percent, or requests below a hundred',
        alarms: [
          {
            name: 'api-errors',
            description:
              'The API returns 5xx to at least 5 percent of requests, or to 5 of fewer than a hundred.',
            label: '5xx',
            metric: new MathExpression({
              expression: 'IF(requests > 100, 100 * errors / requests, errors)',
              usingMetrics: { requests: stage.metricCount(sum), errors: stage.metricServerError(sum) },
              period,
            }),
            threshold: 5,
          },
        ],
      },
      {
        title: 'Latency',
        unit: 'ms',
        metrics: [
          stage.metricLatency({ period, statistic: 'p50', label: 'p50' }),
          stage.metricIntegrationLatency({ period, statistic: 'p99', label: 'p99 of the function' }),
        ],
        alarms: [
          {
            name: 'api-latency',
            description:
              'The slowest hundredth of requests has taken more than two seconds for a quarter of an hour.',
            label: 'p99',
            metric: stage.metricLatency({ period, statistic: 'p99' }),
            threshold: 2_000,
            evaluationPeriods: 3,
          },
        ],
      },
      {
        title: 'Kept out',
        unit: perPeriod,
        alarms: [
          {
            name: 'api-throttling',
            description:
              'More requests arrive than the stage admits: a hundred were refused in five minutes.',
            label: 'Throttled',
            metric: throttled,
            threshold: 100,
          },
          {
            name: 'firewall-blocks',
            description:
              'The firewall blocked 500 requests in five minutes: an attack, or honest callers who are mistaken for one.',
            label: 'Blocked by the firewall',
            // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
            metric: new Metric({
              namespace: 'AWS/WAFV2',
              metricName: 'BlockedRequests',
              dimensionsMap: { WebACL: webAclMetricName, Region: Stack.of(api).region, Rule: 'ALL' },
              ...sum,
            }),
            threshold: 500,
          },
        ],
      },
    ],
  };
}

export function deletionsRow({ deletions, refusals, gatewayResponses }: LogMetrics): Row {
  return {
    title: 'Deletions and refusals',
    graphs: [
      { title: 'User groups deleted', unit: perPeriod, metrics: [deletions] },
      { title: 'Refusals by code', unit: perPeriod, metrics: [refusals] },
      { title: "API Gateway's own responses by type", unit: perPeriod, metrics: [gatewayResponses] },
    ],
  };
}

/** Functions by the names that their alarms have, in lowercase with hyphens. */
export type WatchedFunctions = Readonly<Record<string, WatchedFunction>>;

export interface WatchedFunction {
  readonly lambda: LambdaFunction;
  /** Failed invocations in a quarter of an hour that raise the alarm. @default 3 */
  readonly threshold?: number;
}

/**
 * Functions that crash, run out of time or are not started. What they answer on purpose, such as
 * `database_unavailable`, is no error of a function.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
export function functionsRow(functions: WatchedFunctions, { restApi }: RegionDashboard): Row {
  const throttles = Object.values(functions).map(
    ({ lambda }, index) => [`m${index}`, lambda.metricThrottles({ statistic: 'Sum' })] as const,
  );
  return {
    title: 'Functions and dashboard',
    graphs: [
      {
        title: 'Errors',
        unit: 'in 15 minutes',
        alarms: Object.entries(functions).map(
          ([name, { lambda, threshold = 3 }]): AlarmProps => ({
            name: `function-errors-${name}`,
            runbookAnchor: 'function-errors',
            description: `The function ${name} crashed or ran out of time, ${threshold === 1 ? 'once' : `${threshold} times`} in a quarter of an hour.`,
            label: name,
            metric: lambda.metricErrors({ period: Duration.minutes(15), statistic: 'Sum' }),
            threshold,
          }),
        ),
      },
      {
        title: 'Throttled',
        unit: perPeriod,
        alarms: [
          {
            name: 'function-throttling',
            description:
              "Lambda did not start functions: the account's limit of concurrent executions in the region is reached.",
            label: 'All functions',
            metric: new MathExpression({
              // Each filled: a function that was not invoked has no data, and would take the sum with it.
              expression: throttles.map(([name]) => `FILL(${name}, 0)`).join(' + '),
              usingMetrics: Object.fromEntries(throttles),
              period,
            }),
            threshold: 1,
          },
        ],
      },
      {
        title: "The dashboard's page",
        unit: perPeriod,
        alarms: [
          {
            name: 'dashboard-errors',
            description: 'The page of the dashboard returned 5xx five times in five minutes.',
            label: '5xx',
            metric: restApi.deploymentStage.metricServerError(sum),
            threshold: 5,
          },
        ],
      },
    ],
  };
}

/**
 * The cluster's reserves: capacity, connections, storage, and readers that could take over.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html
 */
export function databaseRow({ database, standby, throttle }: Environment, clusterIdentifier: string): Row {
  const ofCluster = (metricName: string) => rdsMetric(metricName, { DBClusterIdentifier: clusterIdentifier });
  return {
    title: 'Database',
    graphs: [
      {
        title: 'Capacity used',
        unit: 'percent of the highest',
        alarms: [
          {
            name: 'database-capacity',
            description:
              'The database has been at 80 percent of its highest capacity for a quarter of an hour, or reports none.',
            label: 'Capacity',
            metric: ofCluster('ACUUtilization'),
            threshold: 80,
            evaluationPeriods: 3,
            // Instances report every minute: silence means that there is none.
            treatMissingData: BREACHING,
          },
        ],
      },
      {
        title: 'Connections',
        unit: 'connections',
        alarms: [
          {
            name: 'database-connections',
            description:
              'The database has more connections than functions that the API starts at its highest admitted load.',
            label: 'Connections',
            metric: ofCluster('DatabaseConnections'),
            // A function has one connection at most. PostgreSQL's own limit is far above (5,000 at 32 capacity units).
            // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
            threshold: throttle.burst,
            evaluationPeriods: 3,
          },
        ],
      },
      {
        title: 'Storage',
        unit: 'bytes',
        alarms: [
          {
            name: 'database-storage',
            description:
              'The database stores 500 GiB, much more than attempts of 31 days and the records of organizations need.',
            label: 'Stored',
            metric: ofCluster('VolumeBytesUsed'),
            threshold: 500 * 1024 ** 3,
          },
        ],
      },
      {
        title: 'Replication',
        unit: 'ms behind the writer',
        metrics: standby ? [behind(standby.region)] : [],
        alarms: database.readers > 0 ? [readersBehind(clusterIdentifier)] : [],
      },
    ],
  };
}

const readersBehind = (clusterIdentifier: string): AlarmProps => ({
  name: 'database-replication',
  description:
    'A reader has been more than a second behind the writer for a quarter of an hour, or there is none: nothing could take over.',
  label: 'Readers',
  // By role, not by instance: at a failover a reader becomes the writer.
  // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/creating_alarms.html
  metric: rdsMetric('AuroraReplicaLag', { DBClusterIdentifier: clusterIdentifier, Role: 'READER' }),
  threshold: 1_000,
  evaluationPeriods: 3,
  treatMissingData: BREACHING,
});

/**
 * How far a standby is behind its primary: what a promotion would lose. The guide names this metric for every secondary of
 * Aurora PostgreSQL; AWS's lab finds it by `SourceRegion`. An alarm or a search matches the exact set of dimensions.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html
 * https://awsauroralabsmy.com/global/cw/
 */
const standbyLag = 'AuroraGlobalDBRPOLag';

export const standbyBehind = (clusterIdentifier: string, sourceRegion: string): AlarmProps => ({
  name: 'standby-replication',
  description:
    'The replica in the second region has been more than 30 seconds behind for a quarter of an hour, or reports nothing.',
  metric: rdsMetric(standbyLag, { DBClusterIdentifier: clusterIdentifier, SourceRegion: sourceRegion }),
  threshold: 30_000,
  evaluationPeriods: 3,
  // The only copy in another region may have stopped. docs/runbook.md says what to do if it never reports without instances.
  treatMissingData: BREACHING,
});

/** By a search: the cluster's name is known to the standby's own stack only. */
const behind = (region: string) =>
  new SearchExpression({
    expression: `SEARCH('{AWS/RDS,DBClusterIdentifier,SourceRegion} MetricName="${standbyLag}"', 'Maximum')`,
    label: `Standby in ${region}`,
    period,
    searchRegion: region,
  });

const rdsMetric = (metricName: string, dimensionsMap: Record<string, string>) =>
  new Metric({ namespace: 'AWS/RDS', metricName, dimensionsMap, ...maximum });
