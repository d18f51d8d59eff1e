import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';
import { toIsoTime, webhookNotFound } from '../webhook';

/**
 * Disables a webhook: its deliveries stop, those on their way included. One that is disabled keeps its reason and time.
 * The organization is yet to be told, when `changed`.
 */
export const disableWebhook = operation({ webhookId: idField('wh') }, async ({ webhookId }, ports) => {
  const outcome = await ports.database.execute(sql`
    with found as (
      select webhook_id, enabled from webhooks where webhook_id = ${webhookId} for update
    )
    update webhooks set enabled = false, disabled_reason = coalesce(disabled_reason, 'operator'),
      disabled_at = coalesce(disabled_at, now())
    from found
    where webhooks.webhook_id = found.webhook_id
    returning organization_id, disabled_reason, found.enabled as changed,
      cast(extract(epoch from disabled_at) as double precision) as disabled_at`);
  if (!outcome.ok) return outcome;

  const [webhook] = outcome.value;
  if (!webhook) return webhookNotFound(webhookId, ports.environment);
  return ok({
    webhookId,
    organizationId: webhook.organization_id,
    enabled: false,
    disabledReason: webhook.disabled_reason,
    disabledAt: toIsoTime(webhook.disabled_at),
    changed: webhook.changed,
  });
});
