import { Duration } from 'aws-cdk-lib';
import { MathExpression, type Metric, SingleValueWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { functionMetric } from '../../domain/metrics';
import { probeMinutes } from '../../domain/probe';
import { routes } from '../../domain/routes';
import { apiName, apiStage } from '../api/api';
import type { Watched } from './alarms';
import { awsMetric, cloudWatchMetric } from './metrics';

/** The share that may fail, without the noise of subtraction: 0.001 for 0.999. */
export const budgetOf = ({ objective }: Watched['environment']): number =>
  Number((1 - objective.availability).toPrecision(6));

/**
 * Deletions by the API. `errors` are 5xx, of the authorizer and of API Gateway too.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export function deletionSums({ environment }: Pick<Watched, 'environment'>, period: Duration) {
  const { method, path } = routes.deleteUserGroup;
  const dimensions = { ApiName: apiName(environment.name), Stage: apiStage, Method: method, Resource: path };
  const sumOf = (metricName: string) =>
    awsMetric('ApiGateway', metricName, dimensions, { period, statistic: 'Sum' });
  return { requests: sumOf('Count'), errors: sumOf('5XXError') };
}

export const probePeriod = Duration.minutes(probeMinutes);

/** Probes by their period. Zero if some were sent and none was verified (see metrics.ts). */
export const verifiedOfSent = ({ environment, probe }: Watched) => ({
  expression: '0 * sent + verified',
  usingMetrics: {
    sent: probe.metricInvocations({ statistic: 'Sum' }),
    verified: cloudWatchMetric(functionMetric('check-delivery', environment.name, 'Verified')),
  },
  period: probePeriod,
});

/** Of deletions and of webhooks, the share that succeeded, and the part of the error budget that is left: negative once overspent. */
export function objectiveWidget(watched: Watched): SingleValueWidget {
  const { environment } = watched;
  const { expression, ...probes } = verifiedOfSent(watched);
  const period = Duration.hours(1);
  const objective = Number((100 * environment.objective.availability).toPrecision(6));
  const figures = (
    of: string,
    failed: string,
    metrics: { readonly usingMetrics: Record<string, Metric>; readonly period: Duration },
  ) => {
    // Widgets show series only: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
    const percent = (label: string, share: string) =>
      new MathExpression({ ...metrics, label, expression: `TIME_SERIES(100 * (1 - ${share}))` });
    return [
      percent(`${of}, % of ${objective}`, failed),
      percent(`budget of ${of} left, %`, `${failed} / ${budgetOf(environment)}`),
    ];
  };
  return new SingleValueWidget({
    title: 'Objective of 30 days',
    metrics: [
      ...figures('deletions', 'SUM(errors) / SUM(requests)', {
        usingMetrics: { ...deletionSums(watched, period) },
        period,
      }),
      // Each period once: SQS may deliver a probe twice.
      ...figures('webhooks', `AVG(IF(${expression} > 0, 0, 1))`, probes),
    ],
    start: '-P30D',
    fullPrecision: true,
    width: 24,
  });
}
