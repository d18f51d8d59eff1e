import type { Attempt } from '../domain/delivery';
import { listAttempts } from './deliveries';
import { CommandFailed } from './failure';
import { OperationRefused } from './operations-function';
import type { Target } from './target';

/** A delivery that was just sent. */
export interface Sent {
  readonly eventId: string;
  readonly webhookId: string;
}

/** Its last attempt; undefined while there is none. */
export async function lastAttempt(
  target: Target,
  { eventId, webhookId }: Sent,
): Promise<Attempt | undefined> {
  try {
    return (await listAttempts(target, { eventId, webhookId, limit: 1 }))[0];
  } catch (error) {
    // It is not fanned out yet.
    if (error instanceof OperationRefused && error.code === 'event_not_found') return undefined;
    throw error;
  }
}

/** What an operator can do about a delivery that did not arrive in time. */
export function explainAttempt(
  attempt: Attempt | undefined,
  { seconds, target: { logs, paste } }: { readonly seconds: number; readonly target: Target },
): CommandFailed {
  if (!attempt) {
    return new CommandFailed(
      `No delivery was attempted within ${seconds} s.`,
      `The consumers may be off, or messages waiting: ${paste('origin-status')}\nOtherwise look into the logs of the functions that fan out and deliver, in ${logs}.`,
    );
  }
  const { outcome, reason, status } = attempt;
  return new CommandFailed(
    `The delivery did not reach the receiver: ${outcome}, ${reason}${status === null ? '' : ` (${status})`}.`,
    'Check that the URL leads to the receiver, from the internet, and that it answers with 2xx.',
  );
}
