import type { PauseReason } from '../../domain/delivery';
import type { DisabledWebhook } from '../../domain/event';
import { probe } from '../../domain/probe';
import { ok, type Result } from '../../domain/result';
import { type Database, type DatabaseUnavailable, type Row, sql } from '../database/database';
import { batchRequests } from '../shared/batch-requests';
import type { AttemptRow, Known, Pause, Recorded, StoredWebhook, Webhooks } from './ports';
import { longestPause } from './retry-schedule';

/** Concurrent deliveries of a batch share one read and one write: the Data API is billed by the call. */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: batchRequests((deliveries) => findAll(database, deliveries)),
    record: batchRequests((attempts) => recordAll(database, attempts)),
    async disable(webhookId, url, reason) {
      const rows = await database.execute(sql`
        update webhooks set enabled = false, disabled_reason = ${reason}, disabled_at = now()
        where webhook_id = ${webhookId} and url = ${url} and enabled
        returning organization_id, disabled_reason, (extract(epoch from disabled_at) * 1000)::float8 as disabled_at`);
      if (!rows.ok) return rows;
      const [row] = rows.value;
      return ok(row && disablingOf(webhookId, row));
    },
  };
}

async function findAll(
  database: Database,
  deliveries: readonly Parameters<Webhooks['find']>[0][],
): Promise<Result<Known, DatabaseUnavailable>[]> {
  const asked = deliveries.map(({ webhookId, deliveryId, series = '', mayTry }, index) => ({
    ...{ index, webhookId, deliveryId, series, mayTry },
  }));
  const rows = await database.execute(sql`
    with asked as (
      select * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (
        index integer, "webhookId" text, "deliveryId" text, series text, "mayTry" boolean)
    ), trial as (
      -- Others wait meanwhile; if no result comes, the next trial follows.
      update webhooks set paused_until = now() + make_interval(secs => ${trialSeconds}::integer)
      where webhook_id in (
        select webhook_id from webhooks
        where webhook_id in (select "webhookId" from asked where "mayTry") and paused_until <= now()
        for no key update skip locked)
      returning webhook_id, paused_until
    )
    select asked.index, url, enabled, unhealthy_at is not null as unhealthy, secret_version,
      (extract(epoch from rotated_at) * 1000)::float8 as rotated_at,
      organization_id, disabled_reason, (extract(epoch from disabled_at) * 1000)::float8 as disabled_at,
      (extract(epoch from coalesce(trial.paused_until, webhooks.paused_until)) * 1000)::float8 as paused_until,
      pause_reason, pause_seconds,
      trial.webhook_id is not null and "mayTry"
        and asked.index = min(asked.index) filter (where "mayTry") over (partition by "webhookId") as is_trial,
      number, copy, outcome, next_attempt, (extract(epoch from next_attempt_at) * 1000)::float8 as next_attempt_at
    from asked
    left join webhooks on webhooks.webhook_id = "webhookId"
    left join trial on trial.webhook_id = "webhookId"
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
  ...(row.is_trial === true && { isTrial: true }),
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

/** Seconds that a trial may take before another one follows. */
const trialSeconds = 30;

const webhookOf = (webhookId: string, row: Row): StoredWebhook => ({
  url: String(row.url),
  enabled: row.enabled === true,
  unhealthy: row.unhealthy === true,
  secretVersion: Number(row.secret_version),
  ...(row.rotated_at === null ? {} : { rotatedAt: Number(row.rotated_at) }),
  ...(row.paused_until !== null && { pause: pauseOf(row) }),
  ...(row.enabled !== true && { disabling: disablingOf(webhookId, row) }),
});

const disablingOf = (webhookId: string, row: Row): DisabledWebhook => ({
  webhookId,
  organizationId: String(row.organization_id),
  reason: String(row.disabled_reason),
  disabledAt: Math.round(Number(row.disabled_at)),
});

const pauseOf = (row: Row): Pause => ({
  reason: row.pause_reason as PauseReason,
  until: Math.round(Number(row.paused_until)),
  length: Number(row.pause_seconds) * 1_000,
});

/** The circuit breaker: consecutive attempts without a response that open it, and the shortest pause in seconds. */
const breaker = { failures: 5, seconds: 30 };

/**
 * One row for each number of a series. Of two copies of a number, in one statement or in two, the first writes it, unless a
 * later one was delivered.
 *
 * A webhook is marked unhealthy at most once a second, and healthy by a successful attempt 30 s after the last mark, so that
 * an occasionally slow one stays in its queue. Any response ends a pause of the circuit breaker; a trial without one doubles
 * it, but not while the environment's own probe gets none either: then the fault may be ours. Skips webhooks that another
 * batch is writing, to avoid waiting for it: so the count of failures may be late, and is never early.
 */
async function recordAll(
  database: Database,
  attempts: readonly AttemptRow[],
): Promise<Result<Recorded, DatabaseUnavailable>[]> {
  const rows = attempts.map(({ attemptedAt, durationMs, successor, health, ...attempt }, index) => ({
    ...attempt,
    ...health,
    index,
    attemptedAt: isoTime(attemptedAt),
    durationMs: Math.round(durationMs),
    nextAttempt: successor?.attempt,
    nextAttemptAt: successor && isoTime(successor.notBefore),
    asked: Math.ceil((health?.askedMs ?? 0) / 1_000),
  }));
  // Sorted: avoids a deadlock of two batches.
  const recorded = await database.execute(sql`
    with attempt as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as attempt (
        index integer, "eventId" text, "webhookId" text, "deliveryId" text, "attemptedAt" timestamptz,
        "durationMs" integer, status integer, outcome text, reason text, series text, number integer, copy text,
        attempt integer, "nextAttempt" integer, "nextAttemptAt" timestamptz, unhealthy boolean, answered boolean,
        silent boolean, "isTrial" boolean, asked integer)
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
    ), latest as (
      select "webhookId", bool_or(unhealthy) as unhealthy, bool_or(answered) as answered,
        count(*) filter (where silent)::integer as silent, bool_or("isTrial") as is_trial, max(asked) as asked
      from attempt
      where unhealthy is not null
      group by "webhookId"
    ), locked as (
      select webhooks.webhook_id, failures, pause_seconds, pause_reason, latest.*,
        coalesce(case when unhealthy
          then unhealthy_at is null or unhealthy_at < now() - interval '1 second'
          else unhealthy_at < now() - interval '30 seconds' end, false) as changes
      from webhooks
      join latest on webhook_id = "webhookId"
      for no key update of webhooks skip locked
    ), decided as (
      select *,
        case when answered then 0 else least(failures + silent, 1000000) end as failures_now,
        -- Seconds; 0 ends the pause, null leaves it as it is.
        case
          when webhook_id = ${probe.webhookId} then null
          when asked > 0 then asked
          when answered then case when is_trial or pause_reason = 'no_response' then 0 end
          when is_trial and (pause_reason = 'retry_after' or exists (
            select from webhooks where webhook_id = ${probe.webhookId} and failures > 0))
          then ${breaker.seconds}::integer
          when is_trial then least(2 * pause_seconds, ${longestPause / 1_000}::integer)
          when pause_seconds is null and failures + silent >= ${breaker.failures}::integer
          then ${breaker.seconds}::integer
        end as pause
      from locked
    ), marked as (
      update webhooks
      set unhealthy_at = case when not changes then webhooks.unhealthy_at when unhealthy then now() end,
        failures = failures_now,
        paused_until = case when pause is null then paused_until
          when pause > 0 then greatest(now() + make_interval(secs => pause), case when asked > 0 then paused_until end) end,
        pause_seconds = case when pause is null then webhooks.pause_seconds when pause > 0 then pause end,
        pause_reason = case when pause is null then webhooks.pause_reason
          when asked > 0 then 'retry_after' when pause > 0 then 'no_response' end
      from decided
      where webhooks.webhook_id = decided.webhook_id
        and (changes or failures_now <> webhooks.failures or coalesce(pause, -1) > 0
          or (pause = 0 and webhooks.pause_seconds is not null))
      returning webhooks.webhook_id, paused_until, webhooks.pause_reason, webhooks.pause_seconds, pause
    )
    select attempt.index, recorded.number is not null as is_written, marked.pause_reason, marked.pause_seconds,
      (extract(epoch from paused_until) * 1000)::float8 as paused_until
    from attempt
    left join one on one.index = attempt.index
    left join recorded on delivery_id = one."deliveryId" and recorded.series = one.series
      and recorded.number = one.number
    left join marked on webhook_id = attempt."webhookId" and pause > 0
      and attempt.index = (select min(other.index) from attempt other where other."webhookId" = webhook_id)`);
  if (!recorded.ok) return attempts.map(() => recorded);
  const found = new Map(recorded.value.map((row) => [row.index, row]));
  return attempts.map((_, index) => {
    const row = found.get(index) ?? {};
    const pause = typeof row.paused_until === 'number' && { pause: pauseOf(row) };
    return ok({ isWritten: row.is_written === true, ...pause });
  });
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
