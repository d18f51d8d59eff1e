import { ok } from '../../../domain/result';
import { operation } from '../operation';
import { idField } from '../request';
import { findWebhooks, webhookNotFound } from '../webhook';

/** One webhook as it is. */
export const describeWebhook = operation({ webhookId: idField('wh') }, async ({ webhookId }, ports) => {
  const webhooks = await findWebhooks(ports.database, { webhookId });
  if (!webhooks.ok) return webhooks;

  const [webhook] = webhooks.value;
  return webhook ? ok(webhook) : webhookNotFound(webhookId, ports.environment);
});
