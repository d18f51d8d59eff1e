import { sql } from '../../database/sql';
import { ok } from '../../shared/result';
import { operation } from '../operation';
import { idField } from '../request';
import { webhookNotFound } from '../webhook';

/** Disables a webhook. One that is disabled already keeps its reason: a receiver may have said 410. */
export const disableWebhook = operation({ webhookId: idField('wh') }, async ({ webhookId }, ports) => {
  const outcome = await ports.database.execute(sql`
    update webhooks set enabled = false, disabled_reason = coalesce(disabled_reason, 'operator')
    where webhook_id = ${webhookId}
    returning disabled_reason`);
  if (!outcome.ok) return outcome;

  const [webhook] = outcome.value;
  if (!webhook) return webhookNotFound(webhookId, ports.environment);
  return ok({ webhookId, enabled: false, disabledReason: webhook.disabled_reason });
});
