import { connectDatabase } from '../database/connect';
import type { Database } from '../database/database';
import { sql } from '../database/database';
import { bind } from '../shared/bind';
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

/** Milliseconds; below the function's timeout by the time of the last statement. */
export const timeout = 4 * 60_000;

/** Statements that delete at most `limit` expired rows each, by name in the log, and return their number as `deleted`. */
const deletions = {
  webhookAttempts: (limit: number) => sql`
    with deleted as (
      delete from webhook_attempts
      where webhook_attempt_id in (
        select webhook_attempt_id from webhook_attempts
        where attempted_at < now() - interval '31 days'
        order by attempted_at
        limit ${limit})
      returning 1)
    select count(*)::integer as deleted from deleted`,

  webhookEvents: (limit: number) => sql`
    with deleted as (
      delete from webhook_events
      where (event_id, organization_id) in (
        select event_id, organization_id from webhook_events
        where accepted_at < now() - interval '14 days'
        order by accepted_at
        limit ${limit})
      returning 1)
    select count(*)::integer as deleted from deleted`,

  // An expired user action is refused anyway, so its use need not be stored. The hour covers clock skew, and retries of a
  // request whose response was lost.
  usedUserActions: (limit: number) => sql`
    with deleted as (
      delete from used_user_actions
      where user_action_id in (
        select user_action_id from used_user_actions
        where expires_at < now() - interval '1 hour'
        order by expires_at
        limit ${limit})
      returning 1)
    select count(*)::integer as deleted from deleted`,
};

/**
 * The daily purge: a batch of each table in turn, so that no table starves another, until no expired row is left or the time
 * runs out; the next run continues.
 *
 * @throws Error if the database is unavailable: Lambda retries the invocation.
 */
export const createHandler =
  ({ database, log, now, batchSize }: Dependencies) =>
  async (_event: unknown): Promise<void> => {
    const deadline = now() + timeout;
    const purged: Record<string, number> = {};
    let remaining = Object.entries(deletions);
    while (remaining.length > 0 && now() < deadline) {
      const full: typeof remaining = [];
      for (const [name, statement] of remaining) {
        const rows = await database.execute(statement(batchSize));
        if (!rows.ok) throw new Error(`The database is not available: ${rows.error.reason}.`);
        const deleted = Number(rows.value[0]?.deleted);
        purged[name] = (purged[name] ?? 0) + deleted;
        if (deleted === batchSize) full.push([name, statement]);
      }
      remaining = full;
    }
    log.info('Expired rows purged', { logCode: logCodes.expiredPurged, ...purged });
  };

export const handler = bind(createHandler, createDependencies);
