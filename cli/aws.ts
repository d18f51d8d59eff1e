import { explainFailure, type SdkError } from './aws-failure';
import { CommandFailed } from './failure';
import { startCommand } from './pasted-command';
import type { Target } from './target';

/** Milliseconds for a call with its retries: a paused database cluster may need half of it to wake. */
const deadline = 60_000;

/** Whose calls they are, for what is said of a failure. `output`: of a target from an outputs file. */
export type Caller = Pick<Target, 'environment' | 'local'> & Partial<Pick<Target, 'output'>>;

/** AWS refused a call, or did not answer it; `errorName` is the SDK's, such as `ResourceNotFoundException`. */
export class AwsCallFailed extends CommandFailed {
  constructor(
    readonly errorName: string,
    message: string,
    remedy: string,
  ) {
    super(message, remedy);
  }
}

/**
 * Makes one call to AWS with a deadline, and says of a failure what an operator can do about it.
 *
 * @param action the permission that the call needs, such as `kms:Sign`.
 * @throws AwsCallFailed
 */
export async function callAws<T>(
  target: Caller,
  action: string,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(deadline);
  try {
    return await call({ abortSignal });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (abortSignal.aborted)
      throw new AwsCallFailed(
        error.name,
        `${action} was not answered within ${deadline / 1000} s.`,
        'See what became of it before you try again: it may have been done. AWS tells of its troubles in the AWS Health Dashboard.',
      );
    throw explain(error, action, target);
  }
}

/** @returns undefined when AWS refuses the call by an error of this name */
export async function unlessRefused<T>(errorName: RegExp, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AwsCallFailed && errorName.test(error.errorName)) return undefined;
    throw error;
  }
}

/** What an answer of AWS always has. @throws AwsCallFailed when it has not: something else answered */
export function required<T>(action: string, name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new AwsCallFailed(
    'Unknown',
    `${action} was not answered as AWS answers: without ${name}.`,
    'Look which server answers: a proxy, or one behind AWS_ENDPOINT_URL.',
  );
}

function explain(error: SdkError, action: string, { environment, local, output }: Caller): Error {
  const failure = explainFailure(error, action);
  if (!failure) return error;
  const { kind, message, remedy } = failure;
  const start = `Start it: ${startCommand}`;
  if (local && kind === 'refused')
    return new AwsCallFailed(
      error.name,
      `Environment ${environment.name} is not running on this machine.`,
      start,
    );
  if (output && kind === 'rejected')
    return new AwsCallFailed(
      error.name,
      `${message}.`,
      'Check that the outputs file is of this deployment, and the account that you are signed in to.',
    );
  return new AwsCallFailed(
    error.name,
    `${message}.`,
    local && kind === 'foreign' ? `Another program has the port of the environment. ${start}` : remedy,
  );
}
