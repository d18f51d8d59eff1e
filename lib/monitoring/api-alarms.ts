import { Duration, Stack } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { RegionApi } from '../api/region-api';
import { webAclMetricName } from '../api/web-acl';
import type { RegionDashboard } from '../dashboard/region-dashboard';
import type { Alarms } from './alarms';

const period = Duration.minutes(5);
// No request, no data: nothing is wrong.
const missing = TreatMissingData.NOT_BREACHING;
const comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;

/**
 * What callers of the API notice.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export function watchApi(alarms: Alarms, api: RegionApi): void {
  const stage = api.restApi.deploymentStage;
  alarms.add('api-errors', {
    meaning: 'The API answers requests with 5xx: at least 5 percent of them, or 5 of fewer than a hundred.',
    metric: new MathExpression({
      label: '5xx, percent',
      expression: 'IF(requests > 100, 100 * errors / requests, errors)',
      usingMetrics: {
        requests: stage.metricCount({ period, statistic: 'Sum' }),
        errors: stage.metricServerError({ period, statistic: 'Sum' }),
      },
      period,
    }),
    comparison,
    threshold: 5,
    missing,
  });
  alarms.add('api-latency', {
    meaning: 'The slowest hundredth of requests takes more than two seconds, for a quarter of an hour.',
    metric: stage.metricLatency({ period, statistic: 'p99' }),
    comparison,
    threshold: 2_000,
    periods: 3,
    missing,
  });
  alarms.add('api-throttling', {
    meaning:
      'More requests arrive than the throttle of the stage admits: a hundred were refused in five minutes.',
    metric: refusals(api).with({ period, statistic: 'Sum' }),
    comparison,
    threshold: 100,
    missing,
  });
  alarms.add('firewall-blocks', {
    meaning:
      'The firewall blocked 500 requests in five minutes: an attack, or honest callers who are mistaken for one.',
    // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
    metric: new Metric({
      namespace: 'AWS/WAFV2',
      metricName: 'BlockedRequests',
      dimensionsMap: { WebACL: webAclMetricName, Region: Stack.of(api).region, Rule: 'ALL' },
      period,
      statistic: 'Sum',
    }),
    comparison,
    threshold: 500,
    missing,
  });
}

/** What a person before the dashboard notices. */
export function watchDashboard(alarms: Alarms, { restApi }: RegionDashboard): void {
  alarms.add('dashboard-errors', {
    meaning: 'The page of the dashboard was answered with 5xx five times in five minutes.',
    metric: restApi.deploymentStage.metricServerError({ period, statistic: 'Sum' }),
    comparison,
    threshold: 5,
    missing,
  });
}

/** API Gateway has no metric for 429 alone, so the access log's lines are counted. */
function refusals(api: RegionApi): Metric {
  const filter = new MetricFilter(api, 'Throttled', {
    logGroup: api.accessLog,
    filterPattern: FilterPattern.stringValue('$.status', '=', '429'),
    metricNamespace: `WalletApi/${Stack.of(api).stackName}`,
    metricName: 'Throttled',
  });
  return filter.metric();
}
