import { sql } from '../../database/sql';
import { newId } from '../../shared/ids';
import { fail, ok } from '../../shared/result';
import { isEventKind } from '../../webhooks/event';
import { maxUrlLength, readReceiverUrl, type UrlRefusal } from '../../webhooks/receiver-url';
import { operation } from '../operation';
import { type Field, idField } from '../request';
import { maxWebhooks } from '../webhook';

const maxKinds = 100;

const urlField: Field<string> = (value) => (typeof value === 'string' ? ok(value) : fail('a URL'));

/** Null, or left out: all kinds. */
const kindsField: Field<readonly string[] | null> = (value = null) => {
  if (value === null) return ok(null);
  const valid =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= maxKinds &&
    value.every((kind) => typeof kind === 'string' && isEventKind(kind));
  return valid
    ? ok([...new Set<string>(value)])
    : fail(`1 to ${maxKinds} kinds of events such as wallet.created, or null for all`);
};

const shape = { organizationId: idField('or'), url: urlField, kinds: kindsField };

/** Adds a webhook to an organization. Its secret is derived from the id and version that this answers. */
export const addWebhook = operation(shape, async ({ organizationId, url: text, kinds }, ports) => {
  const url = URL.canParse(text) ? new URL(text).href : text;
  const read = readReceiverUrl(url, { allowLocal: ports.localReceivers ?? false });
  if (!read.ok) return fail({ code: read.error, message: refusals[read.error] });

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
  if (!added) {
    return fail({
      code: 'organization_not_found',
      message: `There is no organization ${organizationId} in environment ${ports.environment}. "seed" makes one.`,
    });
  }
  if (added.secret_version === null) {
    return fail({
      code: 'too_many_webhooks',
      message: `${organizationId} has ${maxWebhooks} enabled webhooks, which is the most. "webhook disable" one that is not needed any more.`,
    });
  }
  return ok({ webhookId, organizationId, url, kinds, secretVersion: added.secret_version });
});

const refusals: Readonly<Record<UrlRefusal, string>> = {
  url_malformed: 'The URL is not one: it must look like https://hooks.customer.com/wallet.',
  url_too_long: `The URL is longer than ${maxUrlLength} characters.`,
  scheme_not_https: 'The URL must begin with https://.',
  credentials_in_url: 'The URL must not carry credentials: deliveries are signed instead.',
  address_instead_of_name: 'The URL must have a public name, not an address.',
  name_not_public: 'The name in the URL is not a public one.',
  port_not_allowed: 'The port in the URL must be 443, or one from 1024 up.',
};
