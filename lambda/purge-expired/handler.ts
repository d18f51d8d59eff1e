import { connectDatabase } from '../database/connect';
import { type Database, query, type Statement } from '../database/database';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, logCodes } from '../shared/log';

export function createDependencies() {
  return {
    database: connectDatabase(process.env) as Database,
    log: createLog('purge-expired'),
    now: Date.now,
    batchSize: 1_000,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** Milliseconds: the function's timeout, less the time of the last statement. */
export const timeout = 4 * 60_000;

/**
 * A statement that deletes a number of expired rows, the oldest first. It starts where the batch before ended, and so does not
 * read the index entries of all rows deleted so far. Returns their number, the time of the last one and how many seconds ago it
 * expired.
 */
const deletion =
  (table: string, key: string, time: string, age: string) =>
  (from: string, limit: number): Statement => ({
    text: [
      `with deleted as (
        delete from ${table} where (${key}) in (
          select ${key} from ${table} where ${time} >= `,
      `::timestamptz and ${time} < now() - interval '${age}' order by ${time} limit `,
      `)
        returning ${time} as time)
      select count(*)::integer as deleted, max(time)::text as last,
        extract(epoch from now() - interval '${age}' - max(time))::integer as seconds
      from deleted`,
    ],
    values: [from, limit],
  });

/** The last two are null when nothing was deleted. */
const deletedColumns = { deleted: 'number', last: 'text?', seconds: 'number?' } as const;

/** Keyed by the names that the log uses. */
const deletions = {
  webhookAttempts: deletion('webhook_attempts', 'webhook_attempt_id', 'attempted_at', '31 days'),
  webhookEvents: deletion('webhook_events', 'event_id, organization_id', 'accepted_at', '14 days'),
  // Expired ones are refused anyway. The hour covers clock skew, and retries of a request whose response was lost.
  usedUserActions: deletion('used_user_actions', 'user_action_id', 'expires_at', '1 hour'),
};

/** A batch of each table in turn, so that none starves another, until nothing is expired or the time is over. */
export const createHandler =
  ({ database, log, now, batchSize }: Dependencies) =>
  async (_event: unknown): Promise<void> => {
    const deadline = now() + timeout;
    const purged: Record<string, number> = {};
    let remaining = Object.entries(deletions).map(([name, statement]) => ({
      name,
      statement,
      from: '-infinity',
      seconds: 0,
    }));
    while (remaining.length > 0 && now() < deadline) {
      const full: typeof remaining = [];
      for (const { name, statement, from } of remaining) {
        const rows = await query(database, deletedColumns, statement(from, batchSize));
        if (!rows.ok) throw new Error(`The database is not available: ${rows.error.reason}.`);
        const { deleted = 0, last, seconds } = rows.value[0] ?? {};
        purged[name] = (purged[name] ?? 0) + deleted;
        if (deleted === batchSize && last && seconds != null)
          full.push({ name, statement, from: last, seconds });
      }
      remaining = full;
    }
    // The rows that are left follow the last one deleted, whose time this is. A metric, with an alarm: lib/monitoring.
    const oldestExpiredSeconds = Math.max(0, ...remaining.map(({ seconds }) => seconds));
    log.info('Expired rows purged', { logCode: logCodes.expiredPurged, ...purged, oldestExpiredSeconds });
  };

export const handler = bindDependencies(createHandler, createDependencies);
