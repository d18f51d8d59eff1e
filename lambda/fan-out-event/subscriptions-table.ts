import type { DisabledWebhook, Redelivery } from '../../domain/event';
import { ok, type Result } from '../../domain/result';
import { type Database, type DatabaseUnavailable, query, sql } from '../database/database';
import { batchRequests } from '../shared/batch-requests';
import { disablingColumns, disablingOf } from '../shared/disabling';
import type { AcceptedEvent, FoundSubscribers, StoredEvent, Subscriptions } from './fan-out-event';

/** Implements the port on the region's database. The events of a batch share one statement: the Data API is billed by the call. */
export function createSubscriptions(database: Database): Subscriptions {
  return {
    findSubscribers: batchRequests((events) => findAll(database, events)),
    findStoredEvent: (redelivery) => findStored(database, redelivery),
    findDisabledWebhook: (webhookId) => findDisabledWebhook(database, webhookId),
  };
}

const subscriberColumns = {
  index: 'number',
  webhookId: 'text',
  unhealthy: 'boolean',
  isRepeat: 'boolean',
} as const;

async function findAll(
  database: Database,
  events: readonly AcceptedEvent[],
): Promise<Result<FoundSubscribers, DatabaseUnavailable>[]> {
  const asked = events.map(({ event, ...accepted }, index) => ({ index, ...event, ...accepted }));
  // Sorted: avoids a deadlock of two batches, and stores the first of two messages with one event. `earlier` has no row that is
  // inserted meanwhile, here or by another batch.
  const rows = await query(
    database,
    subscriberColumns,
    sql`
    with asked as (
      select * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as event (
        index integer, id text, "organizationId" text, kind text, text text, "acceptedAt" float8,
        "messageId" text)
    ), wanted as (
      select index, webhook_id, enabled, unhealthy_at is not null or paused_until is not null as unhealthy
      from asked
      join webhooks on organization_id = "organizationId" and (kinds is null or kind = any(kinds))
    ), stored as (
      insert into webhook_events (event_id, organization_id, kind, accepted_at, body, message_id)
      select id, "organizationId", kind, to_timestamp("acceptedAt" / 1000), text, "messageId"
      from asked
      where index in (select index from wanted)
      order by id, "organizationId", index
      on conflict do nothing
      returning event_id, organization_id, message_id
    )
    select index, webhook_id as "webhookId", unhealthy,
      coalesce(stored.message_id, earlier.message_id) is distinct from "messageId" as "isRepeat"
    from wanted
    join asked using (index)
    left join stored on (stored.event_id, stored.organization_id) = (id, "organizationId")
    left join webhook_events earlier on (earlier.event_id, earlier.organization_id) = (id, "organizationId")
    where enabled
    order by webhook_id`,
  );
  if (!rows.ok) return events.map(() => rows);
  return events.map((_, index) => {
    const own = rows.value.filter((row) => row.index === index);
    return ok({
      subscribers: own.map(({ webhookId, unhealthy }) => ({ webhookId, unhealthy })),
      isRepeat: own.some(({ isRepeat }) => isRepeat),
    });
  });
}

/**
 * Characters of a body per row: at four bytes each, below the Data API's limit of 64 KB.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api.limitations.html
 */
const partLength = 12_000;

async function findStored(
  database: Database,
  { eventId, webhookId }: Redelivery,
): Promise<Result<StoredEvent | undefined, DatabaseUnavailable>> {
  const rows = await query(
    database,
    { part: 'text', unhealthy: 'boolean', acceptedAt: 'number' },
    sql`
    select substr(body, start, ${partLength}::integer) as part, unhealthy_at is not null or paused_until is not null as unhealthy,
      round(extract(epoch from accepted_at) * 1000)::float8 as "acceptedAt"
    from webhooks
    join webhook_events using (organization_id),
      generate_series(1, length(body), ${partLength}::integer) start
    where webhook_id = ${webhookId} and event_id = ${eventId}
      and enabled and (kinds is null or kind = any(kinds))
      and webhooks.created_at <= webhook_events.accepted_at
    order by start`,
  );
  if (!rows.ok) return rows;
  const [first] = rows.value;
  if (!first) return ok(undefined);
  const { acceptedAt, unhealthy } = first;
  return ok({ body: rows.value.map(({ part }) => part).join(''), acceptedAt, unhealthy });
}

async function findDisabledWebhook(
  database: Database,
  webhookId: string,
): Promise<Result<DisabledWebhook | undefined, DatabaseUnavailable>> {
  const rows = await query(
    database,
    disablingColumns,
    sql`
    select organization_id as "organizationId", disabled_reason as "disabledReason",
      round(extract(epoch from disabled_at) * 1000)::float8 as "disabledAt"
    from webhooks where webhook_id = ${webhookId}`,
  );
  if (!rows.ok) return rows;
  const [row] = rows.value;
  return ok(row && disablingOf(webhookId, row));
}
