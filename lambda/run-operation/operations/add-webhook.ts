import { newId } from '../../../domain/ids';
import { fail, ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField, optional } from '../request';
import { maxWebhooks, organizationNotFound } from '../webhook';
import { kindsField, readWebhookUrl, urlField } from '../webhook-fields';

const shape = { organizationId: idField('or'), url: urlField, kinds: optional(kindsField) };

/** Adds a webhook to an organization. Its secret is derived from the id and version that this answers. */
export const addWebhook = operation(shape, async ({ organizationId, url: text, kinds = null }, ports) => {
  const read = readWebhookUrl(text, ports);
  if (!read.ok) return read;
  const url = read.value;

  const webhookId = newId('wh');
  const outcome = await ports.database.execute(sql`
    with organization as (
      select organization_id,
        (select count(*) from webhooks
          where webhooks.organization_id = organizations.organization_id and enabled) as webhooks
      from organizations where organization_id = ${organizationId}),
    added as (
      insert into webhooks (webhook_id, organization_id, url, kinds)
      select ${webhookId}, organization_id, ${url}, string_to_array(${kinds?.join(',') ?? null}, ',')
      from organization where webhooks < ${maxWebhooks}
      returning secret_version)
    select added.secret_version from organization left join added on true`);
  if (!outcome.ok) return outcome;

  const [added] = outcome.value;
  if (!added) return organizationNotFound(organizationId, ports.environment);
  if (added.secret_version === null) {
    return fail({
      code: 'too_many_webhooks',
      message: `${organizationId} has ${maxWebhooks} enabled webhooks, which is the most. "webhook disable" one that is not needed any more.`,
    });
  }
  return ok({ webhookId, organizationId, url, kinds, secretVersion: added.secret_version });
});
