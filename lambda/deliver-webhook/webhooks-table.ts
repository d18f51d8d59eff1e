import type { Database, DatabaseUnavailable } from '../database/database';
import { sql } from '../database/sql';
import { coalesce } from '../shared/coalesce';
import { ok, type Result } from '../shared/result';
import type { Attempt, Webhook, Webhooks } from './deliver-webhook';

/**
 * The port on the region's database. The concurrent deliveries of a batch share one statement to read and one to write:
 * the Data API is billed by the call.
 */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: coalesce((webhookIds) => findAll(database, webhookIds)),
    record: coalesce((attempts) => recordAll(database, attempts)),
    disable: (webhookId, url, reason) =>
      database.execute(sql`
        update webhooks
        set enabled = false, disabled_reason = ${reason}
        where webhook_id = ${webhookId} and url = ${url} and enabled`),
  };
}

async function findAll(
  database: Database,
  webhookIds: readonly string[],
): Promise<Result<Webhook | undefined, DatabaseUnavailable>[]> {
  const rows = await database.execute(sql`
    select webhook_id, url, enabled, secret_version, (extract(epoch from rotated_at) * 1000)::float8 as rotated_at
    from webhooks
    where webhook_id in (select jsonb_array_elements_text(${JSON.stringify(webhookIds)}::jsonb))`);
  if (!rows.ok) return webhookIds.map(() => rows);
  const found = new Map(
    rows.value.map((row): [string, Webhook] => [
      String(row.webhook_id),
      {
        url: String(row.url),
        enabled: row.enabled === true,
        secretVersion: Number(row.secret_version),
        ...(row.rotated_at === null ? {} : { rotatedAt: Number(row.rotated_at) }),
      },
    ]),
  );
  return webhookIds.map((webhookId) => ok(found.get(webhookId)));
}

async function recordAll(
  database: Database,
  attempts: readonly Attempt[],
): Promise<Result<unknown, DatabaseUnavailable>[]> {
  const rows = attempts.map(({ attemptedAt, durationMs, nextAttemptAt, ...attempt }) => ({
    ...attempt,
    attemptedAt: isoTime(attemptedAt),
    durationMs: Math.round(durationMs),
    nextAttemptAt: nextAttemptAt === undefined ? null : isoTime(nextAttemptAt),
  }));
  const recorded = await database.execute(sql`
    insert into webhook_attempts
      (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason, next_attempt_at)
    select "eventId", "webhookId", "deliveryId", "attemptedAt", "durationMs", status, outcome, reason, "nextAttemptAt"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as attempt (
      "eventId" text, "webhookId" text, "deliveryId" text, "attemptedAt" timestamptz, "durationMs" integer,
      status integer, outcome text, reason text, "nextAttemptAt" timestamptz)`);
  return attempts.map(() => recorded);
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
