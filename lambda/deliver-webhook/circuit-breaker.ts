import type { AttemptResult } from './next-step';

/**
 * Opens for a webhook whose receiver lets requests time out. A batch lasts as long as its slowest receiver: one that
 * never responds would hold every instance for 15 seconds a batch, and with it the deliveries of all others.
 */
export interface CircuitBreaker {
  /** Whether deliveries to the webhook wait without an attempt. */
  isOpen(webhookId: string, now: number): boolean;
  record(webhookId: string, result: AttemptResult, now: number): void;
}

/** How long a circuit stays open, in milliseconds. */
export interface OpenTimes {
  /** After the second time-out in a row, and doubled with each that follows. */
  readonly first: number;
  readonly longest: number;
}

/** An instance spends a fifth of its time on such a receiver with the first, a twentieth with the longest. */
const defaultOpenTimes: OpenTimes = { first: 60_000, longest: 300_000 };

/** A receiver may be slow once. */
const timeoutsToOpen = 2;
/** The webhook that timed out first is forgotten first. */
const maxWebhooks = 1_000;

interface Circuit {
  readonly timeouts: number;
  readonly openUntil: number;
}

/** Kept in the memory of one instance: reading it costs nothing, and a new instance opens its own soon enough. */
export function createCircuitBreaker({ first, longest }: OpenTimes = defaultOpenTimes): CircuitBreaker {
  const circuits = new Map<string, Circuit>();
  return {
    isOpen: (webhookId, now) => now < (circuits.get(webhookId)?.openUntil ?? 0),
    record(webhookId, result, now) {
      const circuit = circuits.get(webhookId);
      const timedOut = !result.answered && isTimeout(result.reason);
      // Attempts that began before the circuit opened add nothing.
      if (timedOut && circuit && now < circuit.openUntil) return;
      circuits.delete(webhookId);
      if (!timedOut) return;
      const timeouts = (circuit?.timeouts ?? 0) + 1;
      const doublings = timeouts - timeoutsToOpen;
      const length = doublings < 0 ? 0 : Math.min(longest, first * 2 ** doublings);
      circuits.set(webhookId, { timeouts, openUntil: now + length });
      const [oldest] = circuits.keys();
      if (circuits.size > maxWebhooks && oldest !== undefined) circuits.delete(oldest);
    },
  };
}

const isTimeout = (reason: string) => reason === 'timeout' || reason === 'connect_timeout';
