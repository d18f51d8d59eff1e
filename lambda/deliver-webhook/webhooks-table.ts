import { ok, type Result } from '../../domain/result';
import { type Database, type DatabaseUnavailable, type Row, sql } from '../database/database';
import { coalesce } from '../shared/coalesce';
import type { AttemptRow, Known, StoredWebhook, Webhooks } from './deliver-webhook';
import { slowAfter } from './retry-schedule';

/**
 * Implements the port on the region's database. Concurrent deliveries of a batch share one read and one write statement:
 * the Data API is billed by the call.
 */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: coalesce((deliveries) => findAll(database, deliveries)),
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
  deliveries: readonly Parameters<Webhooks['find']>[0][],
): Promise<Result<Known, DatabaseUnavailable>[]> {
  const asked = deliveries.map(({ webhookId, deliveryId, series = '' }, index) => ({
    ...{ index, webhookId, deliveryId, series },
  }));
  const rows = await database.execute(sql`
    select asked.index, url, enabled, unhealthy_at is not null as unhealthy, secret_version,
      (extract(epoch from rotated_at) * 1000)::float8 as rotated_at,
      organization_id, disabled_reason, (extract(epoch from disabled_at) * 1000)::float8 as disabled_at,
      number, copy, outcome, next_attempt, (extract(epoch from next_attempt_at) * 1000)::float8 as next_attempt_at
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (
      index integer, "webhookId" text, "deliveryId" text, series text)
    left join webhooks on webhook_id = "webhookId"
    left join lateral (
      select number, copy, outcome, next_attempt, next_attempt_at
      from webhook_attempts attempt
      where attempt.delivery_id = "deliveryId" and attempt.series = asked.series and number is not null
      order by outcome = 'failed', number desc
      limit 1
    ) last on true`);
  if (!rows.ok) return deliveries.map(() => rows);
  const found = new Map(rows.value.map((row) => [row.index, row]));
  return deliveries.map(({ webhookId }, index) => ok(knownOf(webhookId, found.get(index) ?? {})));
}

const knownOf = (webhookId: string, row: Row): Known => ({
  ...(typeof row.url === 'string' && { webhook: webhookOf(webhookId, row) }),
  ...(typeof row.number === 'number' && {
    last: {
      number: row.number,
      ...(typeof row.copy === 'string' && { copy: row.copy }),
      ...(row.outcome === 'failed' && {
        successor: { attempt: Number(row.next_attempt), notBefore: Math.round(Number(row.next_attempt_at)) },
      }),
    },
  }),
});

const webhookOf = (webhookId: string, row: Row): StoredWebhook => ({
  url: String(row.url),
  enabled: row.enabled === true,
  unhealthy: row.unhealthy === true,
  secretVersion: Number(row.secret_version),
  ...(row.rotated_at === null ? {} : { rotatedAt: Number(row.rotated_at) }),
  ...(row.enabled !== true && {
    disabling: {
      webhookId,
      organizationId: String(row.organization_id),
      reason: String(row.disabled_reason),
      disabledAt: Math.round(Number(row.disabled_at)),
    },
  }),
});

/**
 * One row for each number of a series. Of two copies of a number, in one statement or in two, the first writes it, unless a
 * later one was delivered.
 *
 * A webhook is marked unhealthy at most once a second, and healthy by a successful attempt 30 s after the last mark, so that
 * an occasionally slow one stays in its lane. Skips rows that another batch is writing, to avoid waiting for it.
 */
async function recordAll(
  database: Database,
  attempts: readonly AttemptRow[],
): Promise<Result<boolean, DatabaseUnavailable>[]> {
  const rows = attempts.map(({ attemptedAt, durationMs, successor, ...attempt }, index) => ({
    ...attempt,
    index,
    attemptedAt: isoTime(attemptedAt),
    durationMs: Math.round(durationMs),
    nextAttempt: successor?.attempt,
    nextAttemptAt: successor && isoTime(successor.notBefore),
    unhealthy: attempt.outcome !== 'delivered' || durationMs > slowAfter,
  }));
  // Sorted: avoids a deadlock of two batches.
  const recorded = await database.execute(sql`
    with attempt as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as attempt (
        index integer, "eventId" text, "webhookId" text, "deliveryId" text, "attemptedAt" timestamptz,
        "durationMs" integer, status integer, outcome text, reason text, series text, number integer, copy text,
        attempt integer, "nextAttempt" integer, "nextAttemptAt" timestamptz, unhealthy boolean)
    ), one as (
      select distinct on ("deliveryId", series, number) *
      from attempt
      order by "deliveryId", series, number, outcome <> 'delivered', index
    ), recorded as (
      insert into webhook_attempts as existing
        (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason, series, number, copy,
          attempt, next_attempt, next_attempt_at)
      select "eventId", "webhookId", "deliveryId", "attemptedAt", "durationMs", status, outcome, reason, series, number,
        copy, attempt, "nextAttempt", "nextAttemptAt"
      from one
      order by "deliveryId", series, number
      on conflict (delivery_id, series, number) where number is not null do update
      set attempted_at = excluded.attempted_at, duration_ms = excluded.duration_ms, status = excluded.status,
        outcome = excluded.outcome, reason = excluded.reason, copy = excluded.copy, attempt = excluded.attempt,
        next_attempt = null, next_attempt_at = null
      where excluded.outcome = 'delivered' and existing.outcome <> 'delivered'
      returning delivery_id, series, number
    ), standing as (
      select webhook_id, unhealthy
      from webhooks
      join (select "webhookId", bool_or(unhealthy) as unhealthy from attempt group by "webhookId") latest
        on webhook_id = "webhookId"
      where case when unhealthy
        then unhealthy_at is null or unhealthy_at < now() - interval '1 second'
        else unhealthy_at < now() - interval '30 seconds' end
      for no key update of webhooks skip locked
    ), marked as (
      update webhooks set unhealthy_at = case when standing.unhealthy then now() end
      from standing
      where webhooks.webhook_id = standing.webhook_id
    )
    select index from one
    join recorded on delivery_id = "deliveryId" and recorded.series = one.series and recorded.number = one.number`);
  if (!recorded.ok) return attempts.map(() => recorded);
  const written = new Set(recorded.value.map(({ index }) => index));
  return attempts.map((_, index) => ok(written.has(index)));
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
