import type { PauseReason } from '../../domain/delivery';
import { ok } from '../../domain/result';
import { type Database, query, type RowOf, sql } from '../database/database';
import type { Health, Pause } from './health';
import type { AttemptRow, AttemptStore, HealthChange } from './ports';

// Times are whole milliseconds, so that a pause that was read can be recognized.

export const createAttemptStore = (database: Database): AttemptStore => ({
  write: (attempts) => write(database, attempts),
  set: (changes) => set(database, changes),
});

export const pauseColumns = {
  pausedUntil: 'number?',
  pauseReason: 'text?',
  pauseSeconds: 'number?',
} as const;

const writtenColumns = {
  index: 'number',
  isWritten: 'boolean',
  now: 'number',
  failures: 'number?',
  unhealthyAt: 'number?',
  ...pauseColumns,
} as const;

/**
 * One row for each number of a series. Of two copies of a number, in one statement or in two, the first writes it, unless a
 * later one was delivered.
 *
 * A response waits for the lock of its webhook, if there are failures to set to 0. Silence that finds it locked is not counted:
 * the count may be late, and is never early. Rows first, then the locks of responses, then those of silence, which wait for no
 * other: two batches cannot deadlock.
 */
async function write(database: Database, attempts: readonly AttemptRow[]): ReturnType<AttemptStore['write']> {
  const rows = attempts.map(({ attemptedAt, durationMs, successor, health, ...attempt }, index) => ({
    ...attempt,
    index,
    attemptedAt: isoTime(attemptedAt),
    durationMs: Math.round(durationMs),
    nextAttempt: successor?.attempt,
    nextAttemptAt: successor && isoTime(successor.notBefore),
    url: health?.url,
    answered: health?.answered,
    silent: health?.silent,
  }));
  const written = await query(
    database,
    writtenColumns,
    sql`
    with attempt as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as attempt (
        index integer, "eventId" text, "webhookId" text, "deliveryId" text, "attemptedAt" timestamptz,
        "durationMs" integer, status integer, outcome text, reason text, series text, number integer, copy text,
        attempt integer, "nextAttempt" integer, "nextAttemptAt" timestamptz, url text, answered boolean, silent boolean)
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
    ), result as (
      select "webhookId", url, bool_or(answered) as answered, count(*) filter (where silent)::integer as silences
      from attempt
      where url is not null
      group by "webhookId", url
    ), answered as (
      select webhook_id, silences
      from webhooks
      join result on webhook_id = "webhookId" and webhooks.url = result.url
      where answered and failures > 0 and (select count(*) from recorded) >= 0
      order by webhook_id
      for no key update of webhooks
    ), silent as (
      select webhook_id, silences
      from webhooks
      join result on webhook_id = "webhookId" and webhooks.url = result.url
      where not answered and silences > 0 and (select count(*) from answered) >= 0
      order by webhook_id
      for no key update of webhooks skip locked
    ), counted as (
      update webhooks set failures = case when answered then 0 else failures + silences end
      from (select *, true as answered from answered union all select *, false from silent) locked
      where webhooks.webhook_id = locked.webhook_id
      returning webhooks.webhook_id, url, failures, unhealthy_at, paused_until, pause_reason, pause_seconds
    ), known as (
      select * from counted
      union all
      -- Results without anything to count.
      select webhook_id, webhooks.url, failures, unhealthy_at, paused_until, pause_reason, pause_seconds
      from webhooks
      join result on webhook_id = "webhookId" and webhooks.url = result.url
      where (answered or silences = 0) and webhook_id not in (select webhook_id from counted)
    )
    select attempt.index, recorded.number is not null as "isWritten",
      round(extract(epoch from now()) * 1000)::float8 as now, failures,
      case when isfinite(unhealthy_at) then round(extract(epoch from unhealthy_at) * 1000)::float8
        when unhealthy_at is not null then 0 end as "unhealthyAt",
      round(extract(epoch from paused_until) * 1000)::float8 as "pausedUntil",
      pause_reason as "pauseReason", pause_seconds as "pauseSeconds"
    from attempt
    left join one on one.index = attempt.index
    left join recorded on delivery_id = one."deliveryId" and recorded.series = one.series
      and recorded.number = one.number
    left join known on webhook_id = attempt."webhookId" and known.url = attempt.url`,
  );
  if (!written.ok) return written;
  const found = new Map(written.value.map((row) => [row.index, row]));
  return ok(
    attempts.map((_, index) => {
      const row = found.get(index);
      const health = row && healthOf(row);
      return { isWritten: row?.isWritten === true, now: row?.now ?? 0, ...(health && { health }) };
    }),
  );
}

function healthOf(row: RowOf<typeof writtenColumns>): Health | undefined {
  const { failures, unhealthyAt } = row;
  if (failures === null) return undefined;
  return { failures, ...pauseOf(row), ...(unhealthyAt !== null && { unhealthyAt }) };
}

/** Webhooks that others changed meanwhile keep what they have. Sorted: avoids a deadlock of two batches. */
async function set(database: Database, changes: readonly HealthChange[]): ReturnType<AttemptStore['set']> {
  const rows = changes.map(({ webhookId, url, from, to }) => ({
    webhookId,
    url,
    failures: to.failures,
    markedAt: from.unhealthyAt,
    unhealthyAt: to.unhealthyAt,
    readUntil: from.pause?.until,
    pausedUntil: to.pause?.until,
    pauseReason: to.pause?.reason,
    pauseSeconds: to.pause && to.pause.length / 1_000,
  }));
  const done = await query(
    database,
    { webhookId: 'text' },
    sql`
    with change as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as change (
        "webhookId" text, url text, failures integer, "markedAt" float8, "unhealthyAt" float8, "readUntil" float8,
        "pausedUntil" float8, "pauseReason" text, "pauseSeconds" integer)
    ), locked as (
      select webhook_id
      from webhooks
      join change on webhook_id = "webhookId" and webhooks.url = change.url and webhooks.failures >= change.failures
        and round(extract(epoch from paused_until) * 1000)::float8 is not distinct from "readUntil"
      order by webhook_id
      for no key update of webhooks
    )
    update webhooks
    set unhealthy_at = case when unhealthy_at >= to_timestamp((coalesce("markedAt", -1) + 1) / 1000) then unhealthy_at
        else to_timestamp("unhealthyAt" / 1000) end,
      paused_until = to_timestamp("pausedUntil" / 1000), pause_reason = "pauseReason", pause_seconds = "pauseSeconds"
    from locked
    join change on webhook_id = "webhookId"
    where webhooks.webhook_id = locked.webhook_id
    returning webhooks.webhook_id as "webhookId"`,
  );
  return done.ok ? ok(done.value.map(({ webhookId }) => webhookId)) : done;
}

export function pauseOf(row: RowOf<typeof pauseColumns>): { readonly pause?: Pause } {
  const { pausedUntil, pauseReason, pauseSeconds } = row;
  if (pausedUntil === null || pauseSeconds === null) return {};
  const reason = pauseReason as PauseReason;
  return { pause: { reason, until: pausedUntil, length: pauseSeconds * 1_000 } };
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
