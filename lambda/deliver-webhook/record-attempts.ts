import { ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import { batchRequests } from '../shared/batch-requests';
import { nextHealth } from './health';
import type { AttemptRow, AttemptStore, HealthChange, Webhooks, Written } from './ports';

/** What a write began. */
interface Begun {
  readonly isWritten: boolean;
  /** How the attempt changes its webhook's health. */
  readonly change?: OwnChange;
  readonly setting?: ReturnType<AttemptStore['set']>;
}

interface OwnChange extends HealthChange {
  /** The first attempt of the batch that changes it. */
  readonly by: AttemptRow;
}

/**
 * Records attempts in a store. Those of a batch share a write, and one more call if the health of any webhook changes: a function
 * that is killed between the two loses nothing, because the next result decides again.
 */
export function createRecording(store: AttemptStore): Webhooks['record'] {
  const write = batchRequests<AttemptRow, Result<Begun, DatabaseUnavailable>>(async (attempts) => {
    const written = await store.write(attempts);
    if (!written.ok) return attempts.map(() => written);
    const changes = changesOf(attempts, written.value);
    // The next batch does not wait for it.
    const setting = changes.size > 0 ? store.set([...changes.values()]) : undefined;
    return attempts.map(({ webhookId, health }, index) => {
      const change = health && changes.get(webhookId);
      const isWritten = written.value[index]?.isWritten === true;
      return ok({ isWritten, ...(change && setting && { change, setting }) });
    });
  });
  return async (attempt) => {
    const written = await write(attempt);
    if (!written.ok) return written;
    const { isWritten, change, setting } = written.value;
    const set = await setting;
    const isSet = set?.ok === true && set.value.includes(attempt.webhookId);
    if (!change || !isSet || change.by !== attempt) return ok({ isWritten });
    const { pause } = change.to;
    return ok({ isWritten, ...(pause && pause !== change.from.pause && { pause }) });
  };
}

/** Keyed by webhook. */
function changesOf(
  attempts: readonly AttemptRow[],
  written: readonly Written[],
): ReadonlyMap<string, OwnChange> {
  const changes = new Map<string, OwnChange>();
  for (const [index, by] of attempts.entries()) {
    const { webhookId, health: result } = by;
    const { health: from, now = 0 } = written[index] ?? {};
    if (!from || !result || changes.has(webhookId)) continue;
    const { url } = result;
    const results = attempts.flatMap(({ webhookId: id, health }) =>
      id === webhookId && health?.url === url ? [health] : [],
    );
    const to = nextHealth(webhookId, from, { results, now });
    if (to.unhealthyAt !== from.unhealthyAt || to.pause !== from.pause)
      changes.set(webhookId, { webhookId, url, from, to, by });
  }
  return changes;
}
