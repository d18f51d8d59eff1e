import { Duration, Stack } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { functionRoutes } from '../api/routes';
import { webAclMetricName } from '../api/web-acl';
import type { AlarmRow, Watched } from './alarms';
import type { LogMetrics } from './log-metrics';
import { awsMetric, period, sum } from './metrics';
import { budgetOf, deletionSums } from './objective';

/**
 * How many times faster than the objective allows deletions fail, over a long window, and a short one that ends the alarm
 * soon after the failures: 14.4 uses two percent of 30 days' budget in an hour, 6 uses five percent in six hours.
 * https://sre.google/workbook/alerting-on-slos/#6-multiwindow-multi-burn-rate-alerts
 * CloudWatch evaluates every minute while period × periods is at most a day:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
const burnRates = [
  { pace: 'fast', threshold: 14.4, windows: { '1h': Duration.hours(1), '5m': Duration.minutes(5) } },
  { pace: 'slow', threshold: 6, windows: { '6h': Duration.hours(6), '30m': Duration.minutes(30) } },
] as const;
/** Fewer never page, however few requests there are. */
const leastErrors = 5;

function burnRateAlarms(watched: Watched): readonly AlarmRow[] {
  const budget = budgetOf(watched.environment);
  return burnRates.flatMap(({ pace, threshold, windows }) =>
    Object.entries(windows).map(([window, period], index): AlarmRow => {
      const { requests, errors } = deletionSums(watched, period);
      const minimum = Math.floor(leastErrors / (threshold * budget));
      const [failed, all] = [`errors${window}`, `requests${window}`];
      // The long window counts at least as many requests as make `leastErrors` burn the budget that fast.
      const counted = index === 0 ? `IF(${all} > ${minimum}, ${all}, ${minimum})` : all;
      return {
        name: `api-errors-${window}`,
        runbookAnchor: 'api-errors',
        description: `In the last ${window}, deletions failed ${threshold} times faster than the objective allows. Part of api-errors-${pace}.`,
        metric: new MathExpression({
          expression: `${failed} / (${budget} * ${counted})`,
          usingMetrics: { [failed]: errors, [all]: requests },
          period,
        }),
        threshold,
        unit: 'times the budget',
        composite: {
          name: `api-errors-${pace}`,
          description: `Deletions are failing ${threshold} times faster than the objective allows, in the last ${Object.keys(windows).join(' and the last ')}.`,
        },
      };
    }),
  );
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
export function apiAlarms(watched: Watched, { throttled }: LogMetrics): readonly AlarmRow[] {
  const { environment, api, dashboard } = watched;
  const stage = api.restApi.deploymentStage;
  const ofFirewall = { WebACL: webAclMetricName(environment), Region: Stack.of(api).region, Rule: 'ALL' };
  return [
    ...burnRateAlarms(watched),
    {
      name: 'api-latency',
      description: 'The p99 latency of the API has been two seconds or more for 15 minutes.',
      metric: stage.metricLatency({ period, statistic: 'p99' }),
      threshold: 2_000,
      evaluationPeriods: 3,
      // A percentile of few requests is meaningless.
      evaluateLowSampleCountPercentile: 'ignore',
      unit: 'ms',
      context: [stage.metricIntegrationLatency({ period, statistic: 'p99', label: 'of the function' })],
    },
    {
      name: 'api-throttling',
      description: 'Requests exceed the rate limit of the stage: 100 were rejected in five minutes.',
      metric: throttled,
      threshold: 100,
    },
    {
      name: 'firewall-blocks',
      description: 'The firewall blocked 500 requests in five minutes: an attack, or false positives.',
      // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
      metric: awsMetric('WAFV2', 'BlockedRequests', ofFirewall, sum),
      threshold: 500,
    },
    {
      name: 'dashboard-errors',
      description: 'The dashboard returned 5xx five times in five minutes.',
      metric: dashboard.restApi.deploymentStage.metricServerError(sum),
      threshold: 5,
    },
  ];
}

/**
 * Functions that crash, time out or do not start. Lambda does not count expected failures, such as `database_unavailable`, as
 * errors. https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
export function functionAlarms(watched: Watched): readonly AlarmRow[] {
  const { authorizeRequest, routeFunctions, runOperation, webhooks } = watched;
  const functions = [
    authorizeRequest,
    ...functionRoutes
      .filter(([, { alarm }]) => alarm === 'function-errors')
      .map(([operation]) => routeFunctions[operation]),
    runOperation,
    webhooks.fanOutEvent,
    webhooks.deliverWebhook,
    webhooks.purgeExpired,
  ];
  const usingMetrics = Object.fromEntries(
    functions.map((lambda, index) => [`m${index}`, lambda.metricThrottles({ statistic: 'Sum' })]),
  );
  const errors = functions.map((lambda): AlarmRow => {
    const isScheduled = lambda === webhooks.purgeExpired;
    return {
      name: `function-errors-${lambda.handlerName}`,
      runbookAnchor: 'function-errors',
      description: `The function ${lambda.handlerName} crashed or timed out ${isScheduled ? 'once' : '3 times'} in 15 minutes.`,
      metric: lambda.metricErrors({ period: Duration.minutes(15), statistic: 'Sum' }),
      threshold: isScheduled ? 1 : 3,
      unit: 'in 15 minutes',
    };
  });
  return [
    ...errors,
    {
      name: 'function-throttling',
      description: "Lambda throttled invocations: the account's limit of concurrent executions is reached.",
      // Functions that were not invoked count as zero (undocumented, see metrics.ts).
      metric: new MathExpression({ expression: Object.keys(usingMetrics).join(' + '), usingMetrics, period }),
      threshold: 1,
    },
  ];
}
