import type { MethodModel } from './model';

/**
 * Token buckets, one for each method that has limits, as API Gateway throttles each method of a stage.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 */
export function createThrottles(clock: () => number): (method: MethodModel) => boolean {
  const buckets = new WeakMap<MethodModel, { tokens: number; filledAt: number }>();

  /** Takes a token; `false` when there is none. */
  return (method) => {
    if (!method.throttle) return true;
    const { rate, burst } = method.throttle;
    const now = clock();
    const bucket = buckets.get(method) ?? { tokens: burst, filledAt: now };
    const tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * rate);
    const admitted = tokens >= 1;
    buckets.set(method, { tokens: admitted ? tokens - 1 : tokens, filledAt: now });
    return admitted;
  };
}
