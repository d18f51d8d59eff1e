import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { functionMetric, type MetricName } from '../../domain/metrics';
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

/** A metric of the shared vocabulary, in CloudWatch. */
export const cloudWatchMetric = (
  { dimensions, ...metric }: ReturnType<typeof functionMetric>,
  options: MetricOptions = {},
) => new Metric({ ...metric, dimensionsMap: dimensions, ...sum, ...options });

export const deliveryMetric = (
  { name }: Environment,
  metricName: MetricName<'deliver-webhook'>,
  options?: MetricOptions,
) => cloudWatchMetric(functionMetric('deliver-webhook', name, metricName), options);
