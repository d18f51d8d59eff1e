import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings } from './findings';
import type { FaultKind } from './kinds';
import { type Place, visibilityTimeout } from './world';

/**
 * Milliseconds after the end of a fault until a group is deleted again, and until a new event has arrived at every
 * webhook. A receiver that left requests unanswered holds deliveries up for 15 s each.
 */
export const recoveryLimits = {
  deletions: 10_000,
  deliveries: 20_000,
  deliveriesWithReadersLost: 20_000 + 2 * visibilityTimeout * 1_000,
};

/** When nothing is hoped for any more. */
const patience = 120_000;

export interface RecoveryOptions {
  readonly kind: FaultKind;
  /** The end of the fault: milliseconds since 1970. */
  readonly since: number;
  readonly findings: Findings;
  readonly signal: AbortSignal;
}

/** Waits until the place does its work again, and says when it did. */
export async function recover(
  place: Place,
  { kind, since, findings, signal }: RecoveryOptions,
): Promise<{ readonly deletions: number; readonly deliveries: number }> {
  const [deletions, deliveries] = await Promise.all([
    when(async () => (await place.deletions.due())?.answer === '200', signal),
    place.events.send().then((id) => when(async () => place.events.hasArrived(id), signal)),
  ]);
  const limits = recoveryLimits;
  const deliveriesLimit = kind.losesReaders ? limits.deliveriesWithReadersLost : limits.deliveries;
  const late = (at: number | undefined, limit: number) =>
    at !== undefined && at - since <= limit ? undefined : `${place.name} took ${seconds(at, since)}`;
  findings.check('recoveries of deletions in time', late(deletions, limits.deletions));
  findings.check('recoveries of deliveries in time', late(deliveries, deliveriesLimit));
  const now = Date.now();
  return { deletions: deletions ?? now, deliveries: deliveries ?? now };
}

async function when(condition: () => Promise<boolean>, signal: AbortSignal): Promise<number | undefined> {
  const deadline = Date.now() + patience;
  while (Date.now() < deadline && !signal.aborted) {
    if (await condition()) return Date.now();
    await sleep(50);
  }
  return undefined;
}

const seconds = (at: number | undefined, since: number): string =>
  at === undefined ? `more than ${patience / 1_000} s` : `${((at - since) / 1_000).toFixed(1)} s`;
