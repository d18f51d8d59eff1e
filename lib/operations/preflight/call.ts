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
      const { name, message, $fault } = error as SdkError;
      if ($fault) onAnswer();
      const reason = signal.aborted
        ? `${action} was not answered within ${deadline / 1000} s`
        : reasonOf(error as SdkError, action);
      throw new CallFailed(reason, name, brief(message));
    }
  };
}

/** The SDK's own deadline leaves out how credentials are found, which may ask the network as well. */
const expiry = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Errors of the network are named by Node.js; those of a service carry `$fault`. */
type SdkError = Error & { readonly code?: string; readonly $fault?: string };

function reasonOf(error: SdkError, action: string): string {
  if (denied.has(error.name)) return `these credentials may not call ${action}`;
  if (error.code && !error.$fault) return `${action} cannot be reached: ${brief(error.message)}`;
  return `${action} answered ${error.name}: ${brief(error.message)}`;
}

/** Most services' name for it, CloudFormation's and IAM's, EC2's. */
const denied = new Set(['AccessDeniedException', 'AccessDenied', 'UnauthorizedOperation']);

/** One line, and not a whole page of a proxy. */
const brief = (message: string): string => message.replace(/\s+/g, ' ').trim().slice(0, 160);
