import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField, optional } from '../request';
import { findWebhooks, webhookNotFound } from '../webhook';
import { kindsField, readWebhookUrl, urlField } from '../webhook-fields';

const shape = { webhookId: idField('wh'), url: optional(urlField), kinds: optional(kindsField) };

/** Changes where a webhook's deliveries go, those on their way included, and which kinds of events it gets from now on. */
export const updateWebhook = operation(shape, async ({ webhookId, url: text, kinds }, ports) => {
  const url = text === undefined ? ok(null) : readWebhookUrl(text, ports);
  if (!url.ok) return url;
  const updated = await ports.database.execute(sql`
    update webhooks set url = coalesce(${url.value}, url),
      kinds = case when ${kinds === undefined} then kinds else string_to_array(${kinds?.join(',') ?? null}, ',') end
    where webhook_id = ${webhookId}`);
  if (!updated.ok) return updated;
  const webhooks = await findWebhooks(ports.database, { webhookId });
  if (!webhooks.ok) return webhooks;
  const [webhook] = webhooks.value;
  return webhook ? ok(webhook) : webhookNotFound(webhookId, ports.environment);
});
