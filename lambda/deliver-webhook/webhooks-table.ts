import type { Database } from '../database/database';
import { sql } from '../database/sql';
import { ok } from '../shared/result';
import type { Webhooks } from './deliver-webhook';

export function createWebhooks(database: Database): Webhooks {
  return {
    async find(webhookId) {
      const rows = await database.execute(sql`
        select url, enabled, secret_version, (extract(epoch from rotated_at) * 1000)::float8 as rotated_at
        from webhooks
        where webhook_id = ${webhookId}`);
      if (!rows.ok) return rows;
      const [row] = rows.value;
      if (!row) return ok(undefined);
      return ok({
        url: String(row.url),
        enabled: row.enabled === true,
        secretVersion: Number(row.secret_version),
        ...(row.rotated_at === null ? {} : { rotatedAt: Number(row.rotated_at) }),
      });
    },

    record: (attempt) =>
      database.execute(sql`
        insert into webhook_attempts
          (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason, next_attempt_at)
        values
          (${attempt.eventId}, ${attempt.webhookId}, ${attempt.deliveryId},
           ${isoTime(attempt.attemptedAt)}::timestamptz, ${Math.round(attempt.durationMs)}::integer,
           ${attempt.status ?? null}::integer, ${attempt.outcome}, ${attempt.reason},
           ${attempt.nextAttemptAt === undefined ? null : isoTime(attempt.nextAttemptAt)}::timestamptz)`),

    disable: (webhookId, url, reason) =>
      database.execute(sql`
        update webhooks
        set enabled = false, disabled_reason = ${reason}
        where webhook_id = ${webhookId} and url = ${url} and enabled`),
  };
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
