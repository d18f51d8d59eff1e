import { probe } from '../../domain/probe';
import { fail, ok } from '../../domain/result';
import { query, sql } from '../database/database';
import { type Operations, webhookNotFound, withTimes } from './operation';

const attemptColumns = {
  date: 'number',
  eventId: 'text',
  webhookId: 'text',
  deliveryId: 'text',
  series: 'text',
  attempt: 'number?',
  status: 'number?',
  durationMs: 'number',
  outcome: 'text',
  reason: 'text',
  nextAttemptAt: 'number?',
} as const;

export const deliveries = {
  /** Latest first; those of the environment's own probe only if its webhook or event is named. */
  async 'list-delivery-attempts'(input, { database, environment }) {
    const { eventId = null, webhookId = null, outcome = null, since = null, until = null, limit } = input;
    const found = await query(
      database,
      attemptColumns,
      sql`
      select cast(extract(epoch from attempted_at) as double precision) as date, event_id as "eventId",
        webhook_id as "webhookId", delivery_id as "deliveryId", series, attempt, status, duration_ms as "durationMs", outcome, reason,
        cast(extract(epoch from next_attempt_at) as double precision) as "nextAttemptAt"
      from webhook_attempts
      where (${eventId}::text is null or event_id = ${eventId})
        and case when ${webhookId}::text is not null then webhook_id = ${webhookId}
          else ${eventId}::text is not null or webhook_id <> ${probe.webhookId} end
        and (${outcome}::text is null or outcome = ${outcome})
        and (${since}::timestamptz is null or attempted_at >= ${since}::timestamptz)
        and (${until}::timestamptz is null or attempted_at <= ${until}::timestamptz)
      order by attempted_at desc, webhook_attempt_id desc
      limit ${limit}`,
    );
    if (!found.ok) return found;
    if (found.value.length === 0) {
      // An attempt outlives its webhook and its event's body.
      const known = await query(
        database,
        { event: 'boolean', webhook: 'boolean' },
        sql`
        select
          exists (select from webhook_events where event_id = ${eventId})
            or exists (select from webhook_attempts where event_id = ${eventId}) as event,
          exists (select from webhooks where webhook_id = ${webhookId})
            or exists (select from webhook_attempts where webhook_id = ${webhookId}) as webhook`,
      );
      if (!known.ok) return known;
      if (eventId !== null && !known.value[0]?.event)
        return fail({
          code: 'event_not_found',
          message: `No event ${eventId} is known in environment ${environment}: it was never sent, is not fanned out yet, no webhook wants it, or it is too old.`,
        });
      if (webhookId !== null && !known.value[0]?.webhook) return webhookNotFound(webhookId, environment);
    }
    return ok({ attempts: found.value.map((row) => withTimes(row, 'date', 'nextAttemptAt')) });
  },

  /**
   * The events of kinds to which the webhook subscribes, in order of acceptance, also those from a time when it was disabled. For
   * the next page, set `since` to the last event's time and `after` to its id.
   */
  async 'list-stored-events'(input, { database }) {
    const { webhookId, eventId = null, undelivered, since, until, after = '', limit } = input;
    const found = await query(
      database,
      { eventId: 'text', acceptedAt: 'number', delivered: 'boolean' },
      sql`
      select event_id as "eventId", cast(extract(epoch from accepted_at) as double precision) as "acceptedAt", delivered
      from webhooks join webhook_events using (organization_id)
        cross join lateral (select exists (
          select from webhook_attempts attempt
          where attempt.event_id = webhook_events.event_id and attempt.webhook_id = webhooks.webhook_id
            and outcome = 'delivered') as delivered) as earlier
      where webhook_id = ${webhookId} and (kinds is null or webhook_events.kind = any (kinds))
        and (${eventId}::text is null or event_id = ${eventId})
        and accepted_at between ${since}::timestamptz and ${until}::timestamptz
        and webhooks.created_at <= accepted_at
        and (accepted_at, event_id) > (${since}::timestamptz, ${after}::text)
        and not (${undelivered} and delivered)
      order by accepted_at, event_id
      limit ${limit}`,
    );
    if (!found.ok) return found;
    return ok({ events: found.value.map((row) => withTimes(row, 'acceptedAt')) });
  },
} satisfies Partial<Operations>;
