import type { Database } from '../database/database';
import { sql } from '../database/sql';
import { ok } from '../shared/result';
import type { Subscriptions } from './fan-out-event';

export function createSubscriptions(database: Database): Subscriptions {
  return {
    async wanting({ organizationId, kind }) {
      const rows = await database.execute(sql`
        select webhook_id
        from webhooks
        where organization_id = ${organizationId} and enabled and (kinds is null or ${kind} = any(kinds))
        order by webhook_id`);
      return rows.ok ? ok(rows.value.map((row) => String(row.webhook_id))) : rows;
    },
  };
}
