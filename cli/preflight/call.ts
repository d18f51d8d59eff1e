import { brief, explainFailure, type FailureKind, type SdkError } from '../aws-failure';
import type { CallAws } from './check';

/** A call that brought no answer, or a refusal. `cause` is the SDK's error. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  constructor(
    /** In words, for the line of a check that could not be asked. */
    reason: string,
    /** The name of the SDK's error, such as `AccessDenied`. */
    readonly errorName: string,
    /** What the service said. */
    readonly detail: string,
    readonly kind: FailureKind = 'other',
    readonly remedy = '',
  ) {
    super(reason);
  }
}

/**
 * @param deadline milliseconds for all calls together, from the first
 * @param onAnswer is told when a service answers, be it by a refusal
 */
export function createCall(deadline: number, onAnswer: () => void = () => undefined): CallAws {
  let signal: AbortSignal | undefined;
  return async (action, send) => {
    signal ??= AbortSignal.timeout(deadline);
    try {
      const value = await Promise.race([send({ abortSignal: signal }), expiry(signal)]);
      onAnswer();
      return value;
    } catch (error) {
      const sdkError = error as SdkError;
      const { name, $fault } = sdkError;
      const failure = explainFailure(sdkError, action);
      if ($fault && failure?.kind !== 'foreign') onAnswer();
      const late = `${action} was not answered within ${deadline / 1000} s`;
      const reason = signal.aborted ? late : (failure?.message ?? `${action} failed: ${String(error)}`);
      throw new CallFailed(reason, name, brief(sdkError), failure?.kind, failure?.remedy);
    }
  };
}

/** The SDK's own deadline leaves out how credentials are found, which may ask the network as well. */
const expiry = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
