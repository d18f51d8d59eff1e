import { setTimeout as sleep } from 'node:timers/promises';
import type { Checks } from '../harness/checks';
import type { CheckName } from './check-names';
import type { FaultKind } from './kind';
import type { Recovery } from './made-fault';
import { type TroubledPlace, visibilityTimeout } from './world';

/**
 * Milliseconds after the end of a fault until a group is deleted again, and until a new event has arrived at every
 * webhook. A receiver that left requests unanswered holds deliveries up for 15 s each.
 */
export const recoveryLimits = {
  deletions: 10_000,
  deliveries: 20_000,
  deliveriesWithReadersLost: 20_000 + 2 * visibilityTimeout * 1_000,
};

/** When it gives up. */
const patience = 120_000;

export interface RecoveryOptions {
  readonly kind: FaultKind;
  /** The end of the fault: milliseconds since 1970. */
  readonly since: number;
  readonly checks: Checks<CheckName>;
  readonly signal: AbortSignal;
}

/** Waits until the place does its work again. */
export async function recover(
  { name, deletions, events }: TroubledPlace,
  { kind, since, checks, signal }: RecoveryOptions,
): Promise<Recovery> {
  const when = async (condition: () => Promise<boolean>): Promise<number> => {
    const deadline = Date.now() + patience;
    while (Date.now() < deadline) {
      signal.throwIfAborted();
      if (await condition()) return Date.now();
      await sleep(50);
    }
    return Number.POSITIVE_INFINITY;
  };
  const [deleted, delivered] = await Promise.all([
    when(async () => (await deletions.due())?.answer === '200'),
    events.send().then((id) => when(async () => events.hasArrived(id))),
  ]);
  const limits = recoveryLimits;
  const late = (at: number, limit: number) =>
    at - since <= limit ? undefined : `${name} took ${(Math.min(at - since, patience) / 1_000).toFixed(1)} s`;
  checks.hold('recoveries of deletions in time', late(deleted, limits.deletions));
  checks.hold(
    'recoveries of deliveries in time',
    late(delivered, kind.losesReaders ? limits.deliveriesWithReadersLost : limits.deliveries),
  );
  const now = Date.now();
  return { deletions: Math.min(deleted, now), deliveries: Math.min(delivered, now) };
}
