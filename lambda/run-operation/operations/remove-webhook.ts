import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';
import { webhookNotFound } from '../webhook';

/** Removes a webhook for good. Deliveries on their way to it are dropped; its attempts stay until they expire. */
export const removeWebhook = operation({ webhookId: idField('wh') }, async ({ webhookId }, ports) => {
  const removed = await ports.database.execute(sql`
    delete from webhooks where webhook_id = ${webhookId} returning organization_id`);
  if (!removed.ok) return removed;
  const [webhook] = removed.value;
  if (!webhook) return webhookNotFound(webhookId, ports.environment);
  return ok({ webhookId, organizationId: webhook.organization_id });
});
