import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between tries. */
const pause = 2_000;

/**
 * Tries again while AWS refuses access: a custom resource runs seconds after CloudFormation changed its function's
 * policy, and IAM needs a while to make a change known everywhere.
 *
 * @param act must be safe to repeat.
 * @param timeout milliseconds; the last refusal is thrown when they are over. Default: 30,000.
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
 */
export async function retryAccessDenied<T>(act: () => Promise<T>, timeout = 30_000): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const refused = (error as Error).name === 'AccessDeniedException';
      if (!refused || Date.now() + pause > deadline) throw error;
      await sleep(pause);
    }
  }
}
