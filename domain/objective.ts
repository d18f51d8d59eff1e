import { functionMetric } from './metrics';
import { probeMinutes } from './probe';
import { apiName, apiStage, routes } from './routes';

const { method, path } = routes.deleteUserGroup;

/**
 * What the objective is measured by, as sums, in CloudWatch. `errors` are 5xx, of the authorizer and of API Gateway too.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export function objectiveMetrics(environment: string) {
  const deletions = (metricName: string) => ({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensions: {
      ApiName: apiName(environment),
      Stage: apiStage,
      Method: method,
      Resource: path,
    },
  });
  return {
    requests: deletions('Count'),
    errors: deletions('5XXError'),
    verified: functionMetric('check-delivery', environment, 'Verified'),
  };
}

/** The share that may fail, without the noise of subtraction: 0.001 for 0.999. */
export const budgetOf = (availability: number): number => Number((1 - availability).toPrecision(6));

export const probesIn = (milliseconds: number): number =>
  Math.max(0, Math.floor(milliseconds / 60_000 / probeMinutes));

/** `share` is the part that succeeded, null without requests. `remainingMinutes` of the budget are negative once it is overspent. */
export function standingOf(availability: number, minutes: number, total: number, failed: number) {
  const failedShare = total === 0 ? 0 : failed / total;
  const budget = budgetOf(availability);
  return {
    objective: availability,
    share: total === 0 ? null : 1 - failedShare,
    total,
    failed,
    budgetMinutes: budget * minutes,
    remainingMinutes: (budget - failedShare) * minutes,
  };
}
