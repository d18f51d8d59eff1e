import { ok, type Result } from '../../domain/result';
import { type Database, type DatabaseUnavailable, sql } from '../database/database';
import { coalesce } from '../shared/coalesce';
import type { AttemptRow, StoredWebhook, Webhooks } from './deliver-webhook';
import { slowAfter } from './retry-schedule';

/**
 * Implements the port on the region's database. Concurrent deliveries of a batch share one read and one write statement:
 * the Data API is billed by the call.
 */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: coalesce((webhookIds) => findAll(database, webhookIds)),
    record: coalesce((attempts) => recordAll(database, attempts)),
    async disable(webhookId, url, reason) {
      const rows = await database.execute(sql`
        update webhooks set enabled = false, disabled_reason = ${reason}, disabled_at = now()
        where webhook_id = ${webhookId} and url = ${url} and enabled
        returning organization_id, (extract(epoch from disabled_at) * 1000)::float8 as disabled_at`);
      if (!rows.ok) return rows;
      const [row] = rows.value;
      if (!row) return ok(undefined);
      const disabledAt = Math.round(Number(row.disabled_at));
      return ok({ webhookId, organizationId: String(row.organization_id), reason, disabledAt });
    },
  };
}

async function findAll(
  database: Database,
  webhookIds: readonly string[],
): Promise<Result<StoredWebhook | undefined, DatabaseUnavailable>[]> {
  const rows = await database.execute(sql`
    select webhook_id, url, enabled, unhealthy_at is not null as unhealthy, secret_version,
      (extract(epoch from rotated_at) * 1000)::float8 as rotated_at
    from webhooks
    where webhook_id in (select jsonb_array_elements_text(${JSON.stringify(webhookIds)}::jsonb))`);
  if (!rows.ok) return webhookIds.map(() => rows);
  const found = new Map(
    rows.value.map((row): [string, StoredWebhook] => [
      String(row.webhook_id),
      {
        url: String(row.url),
        enabled: row.enabled === true,
        unhealthy: row.unhealthy === true,
        secretVersion: Number(row.secret_version),
        ...(row.rotated_at === null ? {} : { rotatedAt: Number(row.rotated_at) }),
      },
    ]),
  );
  return webhookIds.map((webhookId) => ok(found.get(webhookId)));
}

/**
 * A webhook is marked unhealthy at most once a second, and healthy by a successful attempt 30 s after the last mark, so that
 * an occasionally slow one stays in its lane. Skips rows that another batch is writing, to avoid waiting for it.
 */
async function recordAll(
  database: Database,
  attempts: readonly AttemptRow[],
): Promise<Result<unknown, DatabaseUnavailable>[]> {
  const rows = attempts.map(({ attemptedAt, durationMs, nextAttemptAt, ...attempt }) => ({
    ...attempt,
    attemptedAt: isoTime(attemptedAt),
    durationMs: Math.round(durationMs),
    nextAttemptAt: nextAttemptAt === undefined ? null : isoTime(nextAttemptAt),
    unhealthy: attempt.outcome !== 'delivered' || durationMs > slowAfter,
  }));
  const recorded = await database.execute(sql`
    with attempt as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as attempt (
        "eventId" text, "webhookId" text, "deliveryId" text, "attemptedAt" timestamptz, "durationMs" integer,
        status integer, outcome text, reason text, "nextAttemptAt" timestamptz, unhealthy boolean)
    ), recorded as (
      insert into webhook_attempts
        (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason, next_attempt_at)
      select "eventId", "webhookId", "deliveryId", "attemptedAt", "durationMs", status, outcome, reason, "nextAttemptAt"
      from attempt
    ), standing as (
      select webhook_id, unhealthy
      from webhooks
      join (select "webhookId", bool_or(unhealthy) as unhealthy from attempt group by "webhookId") latest
        on webhook_id = "webhookId"
      where case when unhealthy
        then unhealthy_at is null or unhealthy_at < now() - interval '1 second'
        else unhealthy_at < now() - interval '30 seconds' end
      for no key update of webhooks skip locked
    )
    update webhooks set unhealthy_at = case when standing.unhealthy then now() end
    from standing
    where webhooks.webhook_id = standing.webhook_id`);
  return attempts.map(() => recorded);
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
