import type { PauseReason } from '../../domain/delivery';
import { probe } from '../../domain/probe';
import { ok, type Result } from '../../domain/result';
import { type Database, type DatabaseUnavailable, query, type RowOf, sql } from '../database/database';
import { batchRequests } from '../shared/batch-requests';
import { disablingColumns, disablingOf } from '../shared/disabling';
import { type Health, type Pause, trialTime } from './health';
import type {
  AttemptRow,
  AttemptStore,
  Disabled,
  HealthChange,
  Known,
  StoredWebhook,
  Webhooks,
} from './ports';
import { createRecording } from './record-attempts';

// Times are whole milliseconds on both sides, so that a pause that was read can be recognized.

/** Concurrent deliveries of a batch share one read and one write: the Data API is billed by the call. */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: batchRequests((deliveries) => findAll(database, deliveries)),
    record: createRecording(createAttemptStore(database)),
    disable: (...disabling) => disable(database, ...disabling),
  };
}

export const createAttemptStore = (database: Database): AttemptStore => ({
  write: (attempts) => write(database, attempts),
  set: (changes) => set(database, changes),
});

const pauseColumns = { pausedUntil: 'number?', pauseReason: 'text?', pauseSeconds: 'number?' } as const;

const knownColumns = {
  index: 'number',
  url: 'text?',
  enabled: 'boolean?',
  unhealthy: 'boolean?',
  secretVersion: 'number?',
  rotatedAt: 'number?',
  ...disablingColumns,
  ...pauseColumns,
  isTrial: 'boolean?',
  probeAnswers: 'boolean',
  isReplaced: 'boolean',
  number: 'number?',
  copy: 'text?',
  outcome: 'text?',
  nextAttempt: 'number?',
  nextAttemptAt: 'number?',
} as const;

async function findAll(
  database: Database,
  deliveries: readonly Parameters<Webhooks['find']>[0][],
): Promise<Result<Known, DatabaseUnavailable>[]> {
  const asked = deliveries.map(({ webhookId, deliveryId, series = '', mayTry }, index) => ({
    ...{ index, webhookId, deliveryId, series, mayTry },
  }));
  const rows = await query(
    database,
    knownColumns,
    sql`
    with asked as (
      select * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (
        index integer, "webhookId" text, "deliveryId" text, series text, "mayTry" boolean)
    ), trial as (
      update webhooks
      set paused_until = date_trunc('milliseconds', now()) + make_interval(secs => ${trialTime / 1_000}::integer)
      where webhook_id in (
        select webhook_id from webhooks
        where webhook_id in (select "webhookId" from asked where "mayTry") and paused_until <= now()
        for no key update skip locked)
      returning webhook_id, paused_until
    )
    select asked.index, url, enabled, unhealthy_at is not null as unhealthy, secret_version as "secretVersion",
      (extract(epoch from rotated_at) * 1000)::float8 as "rotatedAt", organization_id as "organizationId",
      disabled_reason as "disabledReason", round(extract(epoch from disabled_at) * 1000)::float8 as "disabledAt",
      round(extract(epoch from coalesce(trial.paused_until, webhooks.paused_until)) * 1000)::float8 as "pausedUntil",
      pause_reason as "pauseReason", pause_seconds as "pauseSeconds",
      trial.webhook_id is not null and "mayTry"
        and asked.index = min(asked.index) filter (where "mayTry") over (partition by "webhookId") as "isTrial",
      not exists (select from webhooks where webhook_id = ${probe.webhookId} and failures > 0) as "probeAnswers",
      -- By another series that was delivered since the first attempt of this one, or had its own first attempt later.
      exists (
        select from webhook_attempts own
        join webhook_attempts other on other.delivery_id = own.delivery_id and other.series <> own.series
        where own.delivery_id = "deliveryId" and own.series = asked.series and own.number = 1
          and other.number is not null
          and (other.outcome = 'delivered'
              and other.attempted_at + make_interval(secs => other.duration_ms / 1000.0) >= own.attempted_at
            or other.number = 1 and (other.attempted_at, other.series) > (own.attempted_at, own.series))
      ) as "isReplaced",
      number, copy, outcome, next_attempt as "nextAttempt",
      round(extract(epoch from next_attempt_at) * 1000)::float8 as "nextAttemptAt"
    from asked
    left join webhooks on webhooks.webhook_id = "webhookId"
    left join trial on trial.webhook_id = "webhookId"
    left join lateral (
      select number, copy, outcome, next_attempt, next_attempt_at
      from webhook_attempts attempt
      where attempt.delivery_id = "deliveryId" and attempt.series = asked.series and number is not null
      order by outcome = 'failed', number desc
      limit 1
    ) last on true`,
  );
  if (!rows.ok) return deliveries.map(() => rows);
  const found = new Map(rows.value.map((row) => [row.index, row]));
  return deliveries.map(({ webhookId }, index) => {
    const row = found.get(index);
    return ok(row ? knownOf(webhookId, row) : {});
  });
}

const knownOf = (webhookId: string, row: RowOf<typeof knownColumns>): Known => {
  const { pausedUntil, probeAnswers, number, copy, nextAttempt: attempt, nextAttemptAt: notBefore } = row;
  const webhook = webhookOf(webhookId, row);
  return {
    ...(webhook && { webhook }),
    ...(row.isTrial && pausedUntil !== null && { trial: { until: pausedUntil, probeAnswers } }),
    ...(row.isReplaced && { isReplaced: true }),
    ...(number !== null && {
      last: {
        number,
        ...(copy !== null && { copy }),
        ...(row.outcome === 'failed' &&
          attempt !== null &&
          notBefore !== null && { successor: { attempt, notBefore } }),
      },
    }),
  };
};

function webhookOf(webhookId: string, row: RowOf<typeof knownColumns>): StoredWebhook | undefined {
  const { url, enabled, unhealthy, secretVersion, rotatedAt } = row;
  if (url === null || enabled === null || unhealthy === null || secretVersion === null) return undefined;
  const disabling = disablingOf(webhookId, row);
  return {
    ...{ url, enabled, unhealthy, secretVersion, ...pauseOf(row) },
    ...(rotatedAt !== null && { rotatedAt }),
    ...(disabling && { disabling }),
  };
}

const pauseOf = ({
  pausedUntil,
  pauseReason,
  pauseSeconds,
}: RowOf<typeof pauseColumns>): {
  readonly pause?: Pause;
} =>
  pausedUntil === null || pauseSeconds === null
    ? {}
    : { pause: { reason: pauseReason as PauseReason, until: pausedUntil, length: pauseSeconds * 1_000 } };

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
      returning webhooks.webhook_id, failures, unhealthy_at, paused_until, pause_reason, pause_seconds
    ), known as (
      select * from counted
      union all
      -- Results without anything to count.
      select webhook_id, failures, unhealthy_at, paused_until, pause_reason, pause_seconds
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
    left join result on result."webhookId" = attempt."webhookId" and result.url = attempt.url
    left join known on webhook_id = result."webhookId"`,
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
    ...{ webhookId, url, failures: to.failures },
    ...{ markedAt: from.unhealthyAt, unhealthyAt: to.unhealthyAt },
    ...{ readUntil: from.pause?.until, pausedUntil: to.pause?.until },
    ...{ pauseReason: to.pause?.reason, pauseSeconds: to.pause && to.pause.length / 1_000 },
  }));
  const done = await query(
    database,
    { webhookId: 'text' },
    sql`
    with change as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as change (
        "webhookId" text, url text, failures integer, "markedAt" float8, "unhealthyAt" float8, "readUntil" float8, "pausedUntil" float8,
        "pauseReason" text, "pauseSeconds" integer)
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

async function disable(
  database: Database,
  webhookId: string,
  url: string,
  reason: string,
): Promise<Result<Disabled | undefined, DatabaseUnavailable>> {
  const rows = await query(
    database,
    { ...disablingColumns, isNew: 'boolean' },
    sql`
    update webhooks
    set enabled = false, disabled_reason = coalesce(disabled_reason, ${reason}), disabled_at = coalesce(disabled_at, now())
    where webhook_id = ${webhookId} and url = ${url}
    returning organization_id as "organizationId", disabled_reason as "disabledReason",
      round(extract(epoch from disabled_at) * 1000)::float8 as "disabledAt", disabled_at = now() as "isNew"`,
  );
  if (!rows.ok) return rows;
  const [row] = rows.value;
  const disabling = row && disablingOf(webhookId, row);
  return ok(disabling && { ...disabling, isNew: row.isNew });
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
