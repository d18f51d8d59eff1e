import { probeMinutes } from './probe';

/** The route whose responses the objective of the API counts, and the API's names in its metrics. */
export const deletionRoute = { method: 'DELETE', path: '/auth/user-groups/{userGroupId}' } as const;
export const apiName = (environment: string): string => `wallet-${environment}`;
/** Of the API: its paths have no version. */
export const apiStage = 'api';

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
      Method: deletionRoute.method,
      Resource: deletionRoute.path,
    },
  });
  return {
    requests: deletions('Count'),
    errors: deletions('5XXError'),
    verified: {
      namespace: 'WalletWebhooks',
      metricName: 'Verified',
      dimensions: { service: 'check-delivery', environment },
    },
  };
}

/** The share that may fail, without the noise of subtraction: 0.001 for 0.999. */
export const budgetOf = (availability: number): number => Number((1 - availability).toPrecision(6));

/** The largest whole number of probes in a time. */
export const probesIn = (milliseconds: number): number =>
  Math.max(0, Math.floor(milliseconds / 60_000 / probeMinutes));

/**
 * How an objective stands: the share of what succeeded (`null` if there was nothing), and the budget's minutes, of which
 * fewer than none may remain.
 *
 * @param minutes of the time that is looked at
 */
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
