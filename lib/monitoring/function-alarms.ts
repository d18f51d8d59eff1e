import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Alarms } from './alarms';

/** Functions by the names that their alarms have, in lowercase with hyphens. */
export type WatchedFunctions = Readonly<Record<string, WatchedFunction>>;

export interface WatchedFunction {
  readonly lambda: LambdaFunction;
  /** Failed invocations in a quarter of an hour that are too many. @default 3 */
  readonly tolerates?: number;
}

const comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
// Not invoked, no data: nothing is wrong.
const missing = TreatMissingData.NOT_BREACHING;

/**
 * Functions that crash, run out of time or are not started. What they answer on purpose, such as
 * `database_unavailable`, is no error of a function.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
export function watchFunctions(alarms: Alarms, functions: WatchedFunctions): void {
  const period = Duration.minutes(15);
  for (const [name, { lambda, tolerates = 3 }] of Object.entries(functions)) {
    alarms.add(`function-errors-${name}`, {
      heading: 'function-errors',
      meaning: `The function ${name} crashed or ran out of time, ${tolerates === 1 ? 'once' : `${tolerates} times`} in a quarter of an hour.`,
      metric: lambda.metricErrors({ period, statistic: 'Sum' }),
      comparison,
      threshold: tolerates,
      missing,
    });
  }
  const throttles = Object.values(functions).map(
    ({ lambda }, index) => [`m${index}`, lambda.metricThrottles({ statistic: 'Sum' })] as const,
  );
  alarms.add('function-throttling', {
    meaning:
      "Lambda did not start functions: the account's limit of concurrent executions in the region is reached.",
    metric: new MathExpression({
      label: 'Throttled invocations',
      // Each filled: a function that was not invoked has no data, and would take the sum with it.
      expression: throttles.map(([name]) => `FILL(${name}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(throttles),
      period: Duration.minutes(5),
    }),
    comparison,
    threshold: 1,
    missing,
  });
}
