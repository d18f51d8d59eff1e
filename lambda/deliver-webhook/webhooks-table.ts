import type { Disabling } from '../../domain/event';
import { ok, type Result } from '../../domain/result';
import type { Database, DatabaseUnavailable, Row } from '../database/database';
import { sql } from '../database/sql';
import { coalesce } from '../shared/coalesce';
import type { Attempt, Webhook, Webhooks } from './deliver-webhook';
import { timeoutSeconds } from './environment';

/**
 * The port on the region's database. The concurrent deliveries of a batch share one statement to read and one to write:
 * the Data API is billed by the call.
 */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: coalesce((webhookIds) => findAll(database, webhookIds)),
    record: coalesce((attempts) => recordAll(database, attempts)),
    async disable(webhookId, url, reason) {
      // Milliseconds are what the event's id is made of.
      const rows = await database.execute(sql`
        update webhooks
        set enabled = false, disabled_reason = ${reason}, disabling_untold = true,
          disabled_at = date_trunc('milliseconds', now())
        where webhook_id = ${webhookId} and url = ${url} and enabled
        returning webhook_id, organization_id, disabled_reason,
          (extract(epoch from disabled_at) * 1000)::float8 as disabled_at`);
      return rows.ok ? ok(rows.value[0] && toDisabling(rows.value[0])) : rows;
    },
    told: ({ webhookId, disabledAt }) =>
      database.execute(sql`
        update webhooks set disabling_untold = false
        where webhook_id = ${webhookId} and disabled_at = ${isoTime(disabledAt)}::timestamptz`),
  };
}

const toDisabling = (row: Row): Disabling => ({
  webhookId: String(row.webhook_id),
  organizationId: String(row.organization_id),
  reason: String(row.disabled_reason),
  disabledAt: Math.round(Number(row.disabled_at)),
});

async function findAll(
  database: Database,
  webhookIds: readonly string[],
): Promise<Result<Webhook | undefined, DatabaseUnavailable>[]> {
  const rows = await database.execute(sql`
    select webhook_id, organization_id, url, enabled, disabled_reason, secret_version,
      (extract(epoch from rotated_at) * 1000)::float8 as rotated_at,
      (extract(epoch from disabled_at) * 1000)::float8 as disabled_at,
      not enabled and disabling_untold as untold,
      disabled_at < now() - make_interval(secs => ${timeoutSeconds}::float8) as due
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
        ...(row.untold === true ? { untold: { ...toDisabling(row), due: row.due === true } } : {}),
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
