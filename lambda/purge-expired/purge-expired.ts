import { ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';

/** What is kept for a time only. */
export interface Expiring {
  /** The name in the log. */
  readonly name: string;
  /** Deletes at most so many expired rows; answers how many it deleted. */
  deleteSome(limit: number): Promise<Result<number, DatabaseUnavailable>>;
}

export interface Purged {
  readonly [name: string]: number;
}

/** Rows of one statement: few enough to be answered within a second. */
export const batchSize = 1_000;

/**
 * Deletes all that has expired, a batch of each kind in turn, until nothing is left or the time is over: the next day
 * goes on, and no kind keeps another from its turn. What was deleted stays deleted when the database goes away in between.
 *
 * @param deadline milliseconds since 1970
 */
export async function purgeExpired(
  kinds: readonly Expiring[],
  deadline: number,
  now: () => number,
): Promise<Result<Purged, DatabaseUnavailable>> {
  const purged: Record<string, number> = Object.fromEntries(kinds.map(({ name }) => [name, 0]));
  let left = kinds;
  while (left.length > 0) {
    const more: Expiring[] = [];
    for (const kind of left) {
      if (now() >= deadline) return ok(purged);
      const batch = await kind.deleteSome(batchSize);
      if (!batch.ok) return batch;
      purged[kind.name] = (purged[kind.name] ?? 0) + batch.value;
      if (batch.value === batchSize) more.push(kind);
    }
    left = more;
  }
  return ok(purged);
}
