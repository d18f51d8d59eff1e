import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { countField, flagField, idField, optional, timeField } from '../request';
import { toIsoTime } from '../webhook';
import { eventIdField } from '../webhook-fields';

const shape = {
  webhookId: idField('wh'),
  eventId: optional(eventIdField),
  undelivered: flagField,
  since: timeField,
  until: timeField,
  after: optional(eventIdField),
  limit: countField(1_000),
};

/**
 * Kept events of `since` to `until` that a webhook wants, whether or not it was enabled then, in the order in which they
 * were accepted. The next page begins at the last event's time, `after` its id. With `undelivered`, without those that
 * were delivered to it.
 */
export const listKeptEvents = operation(shape, async (input, { database }) => {
  const { webhookId, eventId = null, undelivered, since, until, after = '', limit } = input;
  const found = await database.execute(sql`
    select event_id, cast(extract(epoch from accepted_at) as double precision) as accepted_at
    from webhooks join webhook_events using (organization_id)
    where webhook_id = ${webhookId} and (kinds is null or webhook_events.kind = any (kinds))
      and (${eventId}::text is null or event_id = ${eventId})
      and webhook_events.accepted_at between ${since}::timestamptz and ${until}::timestamptz
      and webhooks.created_at <= webhook_events.accepted_at
      and (webhook_events.accepted_at, event_id) > (${since}::timestamptz, ${after}::text)
      and not (${undelivered} and exists (
        select from webhook_attempts attempt
        where attempt.event_id = webhook_events.event_id and attempt.webhook_id = webhooks.webhook_id
          and outcome = 'delivered'))
    order by webhook_events.accepted_at, event_id
    limit ${limit}`);
  if (!found.ok) return found;
  const events = found.value.map((row) => ({
    eventId: row.event_id,
    acceptedAt: toIsoTime(row.accepted_at),
  }));
  return ok({ events });
});
