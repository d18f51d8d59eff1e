import type { AttemptResult } from './next-step';

/**
 * Webhooks whose receiver lets requests time out. A batch lasts as long as its slowest receiver: one that never answers
 * would hold every instance for 15 seconds a batch, and with it the deliveries of all others.
 */
export interface SilentReceivers {
  /** Whether its deliveries are to wait without being attempted. */
  isResting(webhookId: string, now: number): boolean;
  note(webhookId: string, result: AttemptResult, now: number): void;
}

/** Milliseconds. */
export interface Rest {
  /** After the second time-out in a row, and doubled with each that follows. */
  readonly first: number;
  readonly longest: number;
}

/** With the first rest an instance waits a fifth of its time, with the longest a twentieth. */
const rest: Rest = { first: 60_000, longest: 300_000 };

/** A receiver that is slow once is not silent yet. */
const timeoutsBeforeRest = 2;
/** Webhooks that are remembered; the one that was silent first is forgotten first. */
const maxRemembered = 1_000;

interface Silence {
  readonly timeouts: number;
  readonly until: number;
}

/** Kept in the memory of one instance: it costs nothing to ask, and a new instance finds out soon enough. */
export function rememberSilentReceivers({ first, longest }: Rest = rest): SilentReceivers {
  const silences = new Map<string, Silence>();
  return {
    isResting: (webhookId, now) => now < (silences.get(webhookId)?.until ?? 0),
    note(webhookId, result, now) {
      const silence = silences.get(webhookId);
      const isSilent = !result.answered && isTimeout(result.reason);
      // Attempts that began before the rest tell nothing new.
      if (isSilent && silence && now < silence.until) return;
      silences.delete(webhookId);
      if (!isSilent) return;
      const timeouts = (silence?.timeouts ?? 0) + 1;
      const doublings = timeouts - timeoutsBeforeRest;
      const length = doublings < 0 ? 0 : Math.min(longest, first * 2 ** doublings);
      silences.set(webhookId, { timeouts, until: now + length });
      const [oldest] = silences.keys();
      if (silences.size > maxRemembered && oldest !== undefined) silences.delete(oldest);
    },
  };
}

const isTimeout = (reason: string) => reason === 'timeout' || reason === 'connect_timeout';
