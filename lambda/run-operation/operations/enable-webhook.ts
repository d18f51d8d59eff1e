import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';
import { webhookNotFound } from '../webhook';

/** Enables a webhook again: events from now on are delivered to it. */
export const enableWebhook = operation({ webhookId: idField('wh') }, async ({ webhookId }, ports) => {
  const outcome = await ports.database.execute(sql`
    update webhooks set enabled = true, disabled_reason = null, disabled_at = null, troubled_at = null
    where webhook_id = ${webhookId}
    returning webhook_id`);
  if (!outcome.ok) return outcome;
  if (outcome.value.length === 0) return webhookNotFound(webhookId, ports.environment);
  return ok({ webhookId, enabled: true, disabledReason: null });
});
