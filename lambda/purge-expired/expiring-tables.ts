import { ok } from '../../domain/result';
import type { Database } from '../database/database';
import type { Statement } from '../database/sql';
import { sql } from '../database/sql';
import type { Expiring } from './purge-expired';

export function createExpiring(database: Database): readonly Expiring[] {
  const expiring = (name: string, statement: (limit: number) => Statement): Expiring => ({
    name,
    async deleteSome(limit) {
      const rows = await database.execute(statement(limit));
      return rows.ok ? ok(Number(rows.value[0]?.deleted)) : rows;
    },
  });

  return [
    expiring(
      'webhookAttempts',
      (limit) => sql`
        with deleted as (
          delete from webhook_attempts
          where webhook_attempt_id in (
            select webhook_attempt_id from webhook_attempts
            where attempted_at < now() - interval '31 days'
            order by attempted_at
            limit ${limit})
          returning 1)
        select count(*)::integer as deleted from deleted`,
    ),
    expiring(
      'webhookEvents',
      (limit) => sql`
        with deleted as (
          delete from webhook_events
          where (event_id, organization_id) in (
            select event_id, organization_id from webhook_events
            where accepted_at < now() - interval '14 days'
            order by accepted_at
            limit ${limit})
          returning 1)
        select count(*)::integer as deleted from deleted`,
    ),
    // A user action that has expired is refused as expired, so nothing has to remember its use. The hour covers clocks
    // that differ, and the repeats of a request whose answer was lost.
    expiring(
      'usedUserActions',
      (limit) => sql`
        with deleted as (
          delete from used_user_actions
          where user_action_id in (
            select user_action_id from used_user_actions
            where expires_at < now() - interval '1 hour'
            order by expires_at
            limit ${limit})
          returning 1)
        select count(*)::integer as deleted from deleted`,
    ),
  ];
}
