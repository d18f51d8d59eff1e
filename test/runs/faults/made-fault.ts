import type { Attempt } from './attempt';
import type { FaultKind } from './kind';

/** When an environment did its work again. Milliseconds since 1970. */
export interface Recovery {
  /** A group was deleted. */
  readonly deletions: number;
  /** An event that was sent after the fault's end had arrived at every webhook. */
  readonly deliveries: number;
}

/** One fault that was made, and how it was overcome. */
export interface MadeFault {
  readonly kind: FaultKind;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** By the names of the environments that it was made in. */
  readonly recoveries: ReadonlyMap<string, Recovery>;
}

/** Whether the fault may have changed what the attempt came to. */
export function troubles(
  { kind, from, recoveries }: MadeFault,
  { environment, sentAt, answeredAt = Date.now() }: Attempt,
): boolean {
  const recovery = recoveries.get(environment);
  return (
    kind.troublesDeletions && recovery !== undefined && answeredAt >= from && sentAt <= recovery.deletions
  );
}

/** Seconds from the fault's end to the slowest recovery. */
export const slowest = ({ recoveries, until }: MadeFault, what: keyof Recovery): number =>
  Math.max(...[...recoveries.values()].map((recovery) => recovery[what] - until)) / 1_000;
