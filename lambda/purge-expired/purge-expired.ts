import type { DatabaseUnavailable } from '../database/database';
import { ok, type Result } from '../shared/result';

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
const batchSize = 1_000;

/**
 * Deletes all that has expired, batch by batch, until nothing is left or the time is over: the next day goes on. What
 * was deleted stays deleted when the database goes away in between.
 *
 * @param deadline milliseconds since 1970
 */
export async function purgeExpired(
  kinds: readonly Expiring[],
  deadline: number,
  now: () => number,
): Promise<Result<Purged, DatabaseUnavailable>> {
  const purged: Record<string, number> = {};
  for (const { name, deleteSome } of kinds) {
    purged[name] = 0;
    let deleted = batchSize;
    while (deleted === batchSize && now() < deadline) {
      const batch = await deleteSome(batchSize);
      if (!batch.ok) return batch;
      deleted = batch.value;
      purged[name] += deleted;
    }
  }
  return ok(purged);
}
