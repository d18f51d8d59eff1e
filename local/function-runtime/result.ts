/** Lambda's error payload. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** A failure is a value: `invoke` never rejects. */
export type InvocationResult = { readonly ok: true; readonly payload: unknown } | FailedInvocation;

export interface FailedInvocation extends FunctionError {
  readonly ok: false;
  readonly timedOut?: boolean;
}

/**
 * The largest event and the largest result of a synchronous invocation, in bytes of JSON.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html (6 MB each)
 */
export const PAYLOAD_LIMIT = 6_291_556;

export function failed(errorType: string, errorMessage: string): FailedInvocation {
  return { ok: false, errorType, errorMessage };
}
