import { probe } from '../../domain/probe';
import { ok, type Result } from '../../domain/result';
import { type Database, type DatabaseUnavailable, query, type RowOf, sql } from '../database/database';
import { batchRequests } from '../shared/batch-requests';
import { disablingColumns, disablingOf } from '../shared/disabling';
import { createAttemptStore, pauseColumns, pauseOf } from './attempts-table';
import { type Trial, trialTime } from './health';
import type { DeliveryState, Disabled, LookedAt, StoredWebhook, Webhooks } from './ports';
import { createRecording } from './record-attempts';
import { handOut } from './series';

/** Concurrent deliveries of a batch share one read and one write: the Data API is billed by the call. */
export function createWebhooks(database: Database): Webhooks {
  return {
    find: batchRequests((deliveries) => findAll(database, deliveries)),
    release: (...claim) => release(database, ...claim),
    record: createRecording(createAttemptStore(database)),
    disable: (...disabling) => disable(database, ...disabling),
  };
}

const stateColumns = {
  index: 'number',
  url: 'text?',
  enabled: 'boolean?',
  unhealthy: 'boolean?',
  secretVersion: 'number?',
  rotatedAt: 'number?',
  ...disablingColumns,
  ...pauseColumns,
  mayTry: 'boolean?',
  probeAnswers: 'boolean',
  begunAt: 'number?',
  other: 'text?',
  otherBegunAt: 'number?',
  otherDeliveredAt: 'number?',
  number: 'number?',
  copy: 'text?',
  outcome: 'text?',
  nextAttempt: 'number?',
  nextAttemptAt: 'number?',
} as const;

async function findAll(
  database: Database,
  deliveries: readonly LookedAt[],
): Promise<Result<DeliveryState, DatabaseUnavailable>[]> {
  const requested = deliveries.map(({ webhookId, deliveryId, series = '', mayTry }, index) => ({
    index,
    webhookId,
    deliveryId,
    series,
    mayTry,
  }));
  const rows = await query(
    database,
    stateColumns,
    sql`
    with requested as (
      select * from jsonb_to_recordset(${JSON.stringify(requested)}::jsonb) as requested (
        index integer, "webhookId" text, "deliveryId" text, series text, "mayTry" boolean)
    ), trial as (
      update webhooks
      set paused_until = date_trunc('milliseconds', now()) + make_interval(secs => ${trialTime / 1_000}::integer)
      where webhook_id in (
        select webhook_id from webhooks
        where webhook_id in (select "webhookId" from requested where "mayTry") and paused_until <= now()
        for no key update skip locked)
      returning webhook_id, paused_until
    )
    select requested.index, url, enabled, unhealthy_at is not null as unhealthy, secret_version as "secretVersion",
      (extract(epoch from rotated_at) * 1000)::float8 as "rotatedAt", organization_id as "organizationId",
      disabled_reason as "disabledReason", round(extract(epoch from disabled_at) * 1000)::float8 as "disabledAt",
      round(extract(epoch from coalesce(trial.paused_until, webhooks.paused_until)) * 1000)::float8 as "pausedUntil",
      pause_reason as "pauseReason", pause_seconds as "pauseSeconds",
      trial.webhook_id is not null and "mayTry" as "mayTry",
      not exists (select from webhooks where webhook_id = ${probe.webhookId} and failures > 0) as "probeAnswers",
      round(extract(epoch from begun_at) * 1000)::float8 as "begunAt", other,
      round(extract(epoch from other_begun_at) * 1000)::float8 as "otherBegunAt",
      round(extract(epoch from other_delivered_at) * 1000)::float8 as "otherDeliveredAt",
      number, copy, outcome, next_attempt as "nextAttempt",
      round(extract(epoch from next_attempt_at) * 1000)::float8 as "nextAttemptAt"
    from requested
    left join webhooks on webhooks.webhook_id = "webhookId"
    left join trial on trial.webhook_id = "webhookId"
    left join lateral (
      select number, copy, outcome, next_attempt, next_attempt_at
      from webhook_attempts attempt
      where attempt.delivery_id = "deliveryId" and attempt.series = requested.series and number is not null
      order by outcome = 'failed', number desc
      limit 1
    ) last on true
    left join lateral (
      select max(begun_at) filter (where series = requested.series) as begun_at,
        (array_agg(series order by begun_at desc, series desc) filter (where series <> requested.series))[1] as other,
        max(begun_at) filter (where series <> requested.series) as other_begun_at,
        max(delivered_at) filter (where series <> requested.series) as other_delivered_at
      from (
        select series, min(attempted_at) as begun_at,
          max(attempted_at + make_interval(secs => duration_ms / 1000.0)) filter (where outcome = 'delivered') as delivered_at
        from webhook_attempts
        where delivery_id = "deliveryId" and number is not null
        group by series
      ) each_series
    ) series on true`,
  );
  if (!rows.ok) return deliveries.map(() => rows);
  const found = new Map(rows.value.map((row) => [row.index, row]));
  const looks = deliveries.map((delivery, index) => {
    const row = found.get(index);
    return { delivery, state: row ? stateOf(delivery.webhookId, row) : {} };
  });
  return handOut(looks).map(ok);
}

const stateOf = (webhookId: string, row: RowOf<typeof stateColumns>): DeliveryState => {
  const { pausedUntil, probeAnswers, number, copy, nextAttempt: attempt, nextAttemptAt: notBefore } = row;
  const webhook = webhookOf(webhookId, row);
  const { begunAt, other: series, otherBegunAt, otherDeliveredAt: deliveredAt } = row;
  const isOther = series !== null && otherBegunAt !== null;
  return {
    ...(webhook && { webhook }),
    ...(row.mayTry && pausedUntil !== null && { trial: { until: pausedUntil, probeAnswers } }),
    ...(begunAt !== null && { begunAt }),
    ...(isOther && {
      other: { series, begunAt: otherBegunAt, ...(deliveredAt !== null && { deliveredAt }) },
    }),
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

function webhookOf(webhookId: string, row: RowOf<typeof stateColumns>): StoredWebhook | undefined {
  const { url, enabled, unhealthy, secretVersion, rotatedAt } = row;
  if (url === null || enabled === null || unhealthy === null || secretVersion === null) return undefined;
  const disabling = disablingOf(webhookId, row);
  return {
    url,
    enabled,
    unhealthy,
    secretVersion,
    ...pauseOf(row),
    ...(rotatedAt !== null && { rotatedAt }),
    ...(disabling && { disabling }),
  };
}

const release = (database: Database, webhookId: string, { until }: Trial) =>
  database.execute(sql`
    update webhooks set paused_until = date_trunc('milliseconds', now())
    where webhook_id = ${webhookId} and round(extract(epoch from paused_until) * 1000)::float8 = ${until}::float8`);

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
