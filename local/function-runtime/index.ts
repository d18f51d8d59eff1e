export { LOCAL_ACCOUNT_ID } from './environment';
export { type LocalFunction, type LocalFunctionOptions, startFunction } from './local-function';
export type { FailedInvocation, FunctionError, InvocationResult } from './result';
