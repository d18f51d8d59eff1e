import { disabledEvent } from '../../../domain/event';
import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';
import { toIsoTime, webhookNotFound } from '../webhook';

/**
 * Disables a webhook. One that is disabled already keeps its reason and time: a receiver may have said 410. `untold` is the event
 * by which its organization is to be told, null when it was: the command puts it on the events queue, which this function
 * may not reach, and then runs `mark-disabling-told`.
 */
export const disableWebhook = operation({ webhookId: idField('wh') }, async ({ webhookId }, ports) => {
  const outcome = await ports.database.execute(sql`
    update webhooks set enabled = false, disabled_reason = coalesce(disabled_reason, 'operator'),
      disabling_untold = enabled or disabling_untold,
      disabled_at = case when enabled then date_trunc('milliseconds', now()) else disabled_at end
    where webhook_id = ${webhookId}
    returning organization_id, disabled_reason, disabling_untold,
      cast(extract(epoch from disabled_at) as double precision) as disabled_at`);
  if (!outcome.ok) return outcome;

  const [webhook] = outcome.value;
  if (!webhook) return webhookNotFound(webhookId, ports.environment);
  const { organizationId, reason, disabledAt } = {
    organizationId: String(webhook.organization_id),
    reason: String(webhook.disabled_reason),
    disabledAt: webhook.disabled_at === null ? null : toIsoTime(webhook.disabled_at),
  };
  const untold =
    webhook.disabling_untold && disabledAt !== null
      ? disabledEvent({ webhookId, organizationId, reason, disabledAt: Date.parse(disabledAt) }).text
      : null;
  return ok({ webhookId, organizationId, enabled: false, disabledReason: reason, disabledAt, untold });
});
