import { ok } from '../../shared/result';
import { operation } from '../operation';
import { idField } from '../request';
import { findWebhooks } from '../webhook';

/** An organization's webhooks, the latest first, at most 200. */
export const listWebhooks = operation({ organizationId: idField('or') }, async (input, { database }) => {
  const webhooks = await findWebhooks(database, input);
  return webhooks.ok ? ok({ webhooks: webhooks.value }) : webhooks;
});
