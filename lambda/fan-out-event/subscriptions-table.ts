import type { Database, DatabaseUnavailable } from '../database/database';
import { sql } from '../database/sql';
import { coalesce } from '../shared/coalesce';
import { ok, type Result } from '../shared/result';
import type { WebhookEvent } from '../webhooks/event';
import type { Subscriptions } from './fan-out-event';

/** The port on the region's database. The events of a batch share one statement: the Data API is billed by the call. */
export function createSubscriptions(database: Database): Subscriptions {
  return { wanting: coalesce((events) => allWanting(database, events)) };
}

async function allWanting(
  database: Database,
  events: readonly WebhookEvent[],
): Promise<Result<readonly string[], DatabaseUnavailable>[]> {
  const asked = events.map(({ organizationId, kind }, index) => ({ index, organizationId, kind }));
  const rows = await database.execute(sql`
    select index, webhook_id
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as event (
      index integer, "organizationId" text, kind text)
    join webhooks on organization_id = "organizationId" and enabled and (kinds is null or kind = any(kinds))
    order by webhook_id`);
  if (!rows.ok) return events.map(() => rows);
  const wanting = events.map((): string[] => []);
  for (const row of rows.value) wanting[Number(row.index)]?.push(String(row.webhook_id));
  return wanting.map((webhookIds) => ok(webhookIds));
}
