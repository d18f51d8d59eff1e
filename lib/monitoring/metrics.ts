import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { functionMetric, type MetricName } from '../../domain/metrics';
import { objectiveMetrics } from '../../domain/objective';
import type { Environment } from '../environment/schema';

/*
 * Some expressions rest on this: in a sum, a term without data counts as zero if another has data. Undocumented, and seen:
 * https://github.com/compiler-explorer/infra/pull/1661. docs/deploying.md, "First day on AWS", has a query for each.
 */

export const period = Duration.minutes(5);
export const sum = { period, statistic: 'Sum' };
export const maximum = { period, statistic: 'Maximum' };

/** A metric of AWS's own, its maximum by default. */
export const awsMetric = (
  service: string,
  metricName: string,
  dimensionsMap: Record<string, string>,
  options: MetricOptions = maximum,
) => new Metric({ namespace: `AWS/${service}`, metricName, dimensionsMap, ...options });

type SharedMetric = ReturnType<typeof objectiveMetrics>['requests'] | ReturnType<typeof functionMetric>;

/** A metric of the shared vocabulary, in CloudWatch. */
export const cloudWatchMetric = ({ dimensions, ...metric }: SharedMetric, options: MetricOptions = {}) =>
  new Metric({ ...metric, dimensionsMap: dimensions, ...sum, ...options });

/** Sums of what the objective is measured by. */
export function objectiveSums({ name }: Environment, period: Duration) {
  const { requests, errors, verified } = objectiveMetrics(name);
  const sumOf = (metric: SharedMetric) => cloudWatchMetric(metric, { period });
  return { requests: sumOf(requests), errors: sumOf(errors), verified: sumOf(verified) };
}

export const deliveryMetric = (
  { name }: Environment,
  metricName: MetricName<'deliver-webhook'>,
  options?: MetricOptions,
) => cloudWatchMetric(functionMetric('deliver-webhook', name, metricName), options);
