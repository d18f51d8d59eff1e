import type { Attempt } from '../../domain/delivery';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { OperationRefused, runOperation } from '../shell/operations';
import { poll } from '../shell/poll';

interface WaitOptions {
  readonly seconds: number;
  readonly signal?: AbortSignal;
  /** @default - any attempt */
  readonly isOver?: (attempt: Attempt) => boolean;
}

/** Waits for an attempt; returns the last one after the timeout. @throws CommandFailed if there is no attempt */
export async function waitForAttempt(
  target: DeployedEnvironment,
  { eventId, webhookId }: Pick<Attempt, 'eventId' | 'webhookId'>,
  { isOver = () => true, ...options }: WaitOptions,
): Promise<Attempt> {
  let last: Attempt | undefined;
  const look = async () => {
    try {
      const query = { eventId, webhookId, limit: 1 };
      [last] = (await runOperation(target, 'list-delivery-attempts', query)).attempts;
    } catch (error) {
      // Not fanned out yet.
      if (!(error instanceof OperationRefused && error.code === 'event_not_found')) throw error;
    }
    return last && isOver(last) ? last : undefined;
  };
  const attempt = (await poll(look, { every: 500, ...options })) ?? last;
  if (attempt) return attempt;
  const logs = `See the logs of the functions that fan out and deliver, in ${target.logs}.`;
  throw new CommandFailed(
    `No delivery attempt within ${options.seconds} s.`,
    target.local
      ? logs
      : `The consumers may be disabled, or messages queued: ${target.walletCommand('origin-status')}\nOtherwise: ${logs}`,
  );
}

/** @throws CommandFailed for any outcome but `delivered` */
export function requireDelivered({ outcome, reason, status }: Attempt): void {
  if (outcome === 'delivered') return;
  throw new CommandFailed(
    `The receiver ${status === null ? 'did not respond' : `returned ${status}`}: ${outcome}, ${reason}.`,
    'What receivers must do: docs/receivers.md.',
  );
}
