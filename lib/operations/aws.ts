import { CommandFailed } from './failure';
import type { Target } from './target';

/** Milliseconds for a call with its retries: a paused database cluster may need half of it to wake. */
const deadline = 60_000;

/**
 * Makes one call to AWS with a deadline, and says of a failure what an operator can do about it.
 *
 * @param action the permission that the call needs, such as `kms:Sign`.
 */
export async function callAws<T>(
  target: Target,
  action: string,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(deadline);
  try {
    return await call({ abortSignal });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (abortSignal.aborted)
      throw new CommandFailed(
        `${action} was not answered within ${deadline / 1000} s.`,
        'See what became of it before you try again: it may have been done. AWS tells of its troubles in the AWS Health Dashboard.',
      );
    throw explain(error, action, target);
  }
}

/** Errors of the network and of credentials are named by Node.js and the SDK; those of a service carry `$fault`. */
function explain(error: Error & { code?: string; $fault?: string }, action: string, target: Target): Error {
  const { name, region } = target.environment;
  if (error.code === 'ECONNREFUSED' && target.local) {
    return new CommandFailed(
      `Environment ${name} is not running on this machine.`,
      'Start it with "npm start".',
    );
  }
  if (error.code) {
    return new CommandFailed(
      `${action} in ${region} cannot be reached: ${error.message}.`,
      'Check the network.',
    );
  }
  if (error.name === 'CredentialsProviderError') {
    return new CommandFailed(
      `There are no AWS credentials for environment ${name}: ${error.message}.`,
      'Sign in to its account (such as "aws sso login") and name the profile in AWS_PROFILE.',
    );
  }
  if (accessDenied.has(error.name)) {
    return new CommandFailed(
      `${action} was refused: ${error.message}.`,
      `Sign in as someone who has ${action}.`,
    );
  }
  if (!error.$fault) return error;
  return new CommandFailed(
    `${action} failed: ${error.name}: ${error.message}.`,
    'Check that the outputs file is of this deployment, and the account that you are signed in to.',
  );
}

/** Most services' name for it, CloudFormation's and EC2's. */
const accessDenied = new Set(['AccessDeniedException', 'AccessDenied', 'UnauthorizedOperation']);
