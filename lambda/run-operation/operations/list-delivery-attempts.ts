import { sql } from '../../database/sql';
import { fail, ok } from '../../shared/result';
import { isEventId } from '../../webhooks/event';
import { operation } from '../operation';
import type { Field } from '../request';
import { toIsoTime } from '../webhook';

const eventIdField: Field<string> = (value) =>
  typeof value === 'string' && isEventId(value)
    ? ok(value)
    : fail("an event's id: 1 to 64 letters, digits, hyphens or underscores");

/** The attempts to deliver an event in the order in which they were made: the latest 1,000, of the last 31 days. */
export const listDeliveryAttempts = operation({ eventId: eventIdField }, async ({ eventId }, ports) => {
  const outcome = await ports.database.execute(sql`
    select webhook_id, delivery_id, cast(extract(epoch from attempted_at) as double precision) as attempted_at,
      duration_ms, status, outcome, reason,
      cast(extract(epoch from next_attempt_at) as double precision) as next_attempt_at
    from webhook_attempts
    where event_id = ${eventId}
    order by webhook_attempts.attempted_at desc, webhook_attempt_id desc
    limit 1000`);
  if (!outcome.ok) return outcome;
  const attempts = outcome.value.map((row) => ({
    date: toIsoTime(row.attempted_at),
    webhookId: row.webhook_id,
    deliveryId: row.delivery_id,
    status: row.status,
    durationMs: row.duration_ms,
    outcome: row.outcome,
    reason: row.reason,
    nextAttemptAt: row.next_attempt_at === null ? null : toIsoTime(row.next_attempt_at),
  }));
  return ok({ attempts: attempts.reverse() });
});
