import { newId } from '../../domain/ids';
import type { OperationError } from '../../domain/operations';
import {
  newUrlRefusals,
  normalizeReceiverUrl,
  type ReceiverUrl,
  readReceiverUrl,
} from '../../domain/receiver-url';
import { fail, ok, type Result } from '../../domain/result';
import { checkPath } from '../../domain/routes';
import { rotationOverlap } from '../../domain/signature';
import { type Database, query, type Statement, StatementRefused, sql } from '../database/database';
import {
  type Operations,
  organizationNotFound,
  type Ports,
  toIsoTime,
  webhookNotFound,
  withTimes,
} from './operation';

/** So many fit a Data API response (1 MiB), with their kinds and URLs. A trigger of the schema enforces it, with this error. */
const maxWebhooks = 50;
const tooManyWebhooks = 'WH050';

/** Executes a statement that may enable a webhook. */
async function executeWithinLimit(database: Database, statement: Statement) {
  try {
    return await database.execute(statement);
  } catch (error) {
    if (!(error instanceof StatementRefused && error.sqlState === tooManyWebhooks)) throw error;
    return fail<OperationError>({
      code: 'too_many_webhooks',
      message: `The organization has ${maxWebhooks} enabled webhooks, the maximum. Disable one with "webhook disable".`,
    });
  }
}

const webhookColumns = {
  webhookId: 'text',
  organizationId: 'text',
  url: 'text',
  kinds: 'text?',
  enabled: 'boolean',
  disabledReason: 'text?',
  disabledAt: 'number?',
  secretVersion: 'number',
  rotatedAt: 'number?',
  createdAt: 'number',
  pausedUntil: 'number?',
  pauseReason: 'text?',
} as const;

/** An organization's webhooks, or the one with an id: enabled ones first, at most `maxWebhooks`. */
async function findWebhooks(
  database: Database,
  { organizationId, webhookId }: { readonly organizationId?: string; readonly webhookId?: string },
) {
  const found = await query(
    database,
    webhookColumns,
    sql`
    select webhook_id as "webhookId", organization_id as "organizationId", url, array_to_string(kinds, ',') as kinds,
      enabled, disabled_reason as "disabledReason",
      cast(extract(epoch from disabled_at) as double precision) as "disabledAt", secret_version as "secretVersion",
      cast(extract(epoch from rotated_at) as double precision) as "rotatedAt",
      cast(extract(epoch from created_at) as double precision) as "createdAt",
      cast(extract(epoch from paused_until) as double precision) as "pausedUntil", pause_reason as "pauseReason"
    from webhooks
    where organization_id = ${organizationId ?? null} or webhook_id = ${webhookId ?? null}
    order by enabled desc, created_at desc, webhook_id
    limit ${maxWebhooks}`,
  );
  if (!found.ok) return found;
  const webhooks = found.value.map((row) => ({
    ...withTimes(row, 'disabledAt', 'rotatedAt', 'createdAt', 'pausedUntil'),
    kinds: row.kinds?.split(',') ?? null,
  }));
  return ok(webhooks);
}

async function describeWebhook({ webhookId }: { readonly webhookId: string }, ports: Ports) {
  const found = await findWebhooks(ports.database, { webhookId });
  if (!found.ok) return found;
  const [webhook] = found.value;
  return webhook ? ok(webhook) : webhookNotFound(webhookId, ports.environment);
}

/** The URL in normalized form, unless delivery would reject it or it leads back to the environment. */
function readWebhookUrl(
  text: string,
  { localReceivers = false, ...own }: Pick<Ports, 'localReceivers' | 'apiUrl' | 'dashboardUrl'>,
): Result<string, OperationError> {
  const options = { allowLocal: localReceivers };
  const url = normalizeReceiverUrl(text, options);
  if (!url.ok) return fail({ code: url.error, message: newUrlRefusals[url.error] });
  const read = readReceiverUrl(url.value, options);
  if (read.ok && !isServedBy(own.apiUrl, read.value) && !isServedBy(own.dashboardUrl, read.value)) return url;
  return fail({
    code: 'url_of_this_environment',
    message:
      'The URL leads back to this environment: webhooks to it would count against our own rate limits.',
  });
}

/** Local environments share a host and differ in their ports. */
function isServedBy(ownUrl: string, { secure, hostname, port }: ReceiverUrl): boolean {
  const own = new URL(ownUrl);
  return secure ? hostname === own.hostname : port === Number(own.port);
}

export const webhooks = {
  /** With `check` it leads to the environment's own receiver, under its own id. */
  async 'add-webhook'({ organizationId, url: text, check, kinds = null }, ports) {
    if ((text === undefined) !== check)
      return fail({ code: 'input_invalid', message: 'Give either "url" or "check": true.' });
    const webhookId = newId('wh');
    const read =
      text === undefined ? ok(`${ports.apiUrl}${checkPath}/${webhookId}`) : readWebhookUrl(text, ports);
    if (!read.ok) return read;
    const url = read.value;

    const added = await executeWithinLimit(
      ports.database,
      sql`
        insert into webhooks (webhook_id, organization_id, url, kinds)
        select ${webhookId}, organization_id, ${url}, string_to_array(${kinds?.join(',') ?? null}, ',')
        from organizations where organization_id = ${organizationId} and (ephemeral or not ${check})
        returning webhook_id`,
    );
    if (!added.ok) return added;
    if (check && added.value.length === 0)
      return fail({
        code: 'organization_not_ephemeral',
        message: `There is no ephemeral organization ${organizationId} in environment ${ports.environment}: only "smoke" creates them, and only their webhooks may lead to the environment itself.`,
      });
    if (added.value.length === 0) return organizationNotFound(organizationId, ports.environment);
    return describeWebhook({ webhookId }, ports);
  },

  /** An organization's webhooks: enabled ones first, then latest first, at most `maxWebhooks`. */
  async 'list-webhooks'({ organizationId }, ports) {
    const webhooks = await findWebhooks(ports.database, { organizationId });
    if (!webhooks.ok) return webhooks;
    if (webhooks.value.length > 0) return ok({ webhooks: webhooks.value });

    const organization = await ports.database.execute(sql`
      select organization_id from organizations where organization_id = ${organizationId}`);
    if (!organization.ok) return organization;
    if (organization.value.length === 0) return organizationNotFound(organizationId, ports.environment);
    return ok({ webhooks: [] });
  },

  'describe-webhook': describeWebhook,

  /** Changes a webhook's URL, also for pending deliveries, which ends a pause, and the kinds of its future events. */
  async 'update-webhook'({ webhookId, url: text, kinds }, ports) {
    const url = text === undefined ? ok(null) : readWebhookUrl(text, ports);
    if (!url.ok) return url;
    const updated = await ports.database.execute(sql`
      update webhooks set url = coalesce(${url.value}, url),
        paused_until = case when ${url.value}::text is null then paused_until end,
        pause_reason = case when ${url.value}::text is null then pause_reason end,
        pause_seconds = case when ${url.value}::text is null then pause_seconds end,
        failures = case when ${url.value}::text is null then failures else 0 end,
        kinds = case when ${kinds === undefined} then kinds else string_to_array(${kinds?.join(',') ?? null}, ',') end
      where webhook_id = ${webhookId}`);
    return updated.ok ? describeWebhook({ webhookId }, ports) : updated;
  },

  /**
   * The new secret and the previous one both sign for 24 h. Another rotation within that time revokes the older one at once, and
   * requires `again`: otherwise, repeating a command whose response was lost would break the receiver.
   */
  async 'rotate-webhook-secret'({ webhookId, again }, ports) {
    const outcome = await query(
      ports.database,
      { secretVersion: 'number', rotatedAt: 'number', done: 'boolean' },
      sql`
      with rotated as (
        update webhooks set secret_version = secret_version + 1, rotated_at = now()
        where webhook_id = ${webhookId}
          and (${again} or rotated_at is null or rotated_at < now() - make_interval(secs => ${rotationOverlap / 1_000}::double precision))
        returning secret_version, rotated_at)
      select coalesce(rotated.secret_version, webhooks.secret_version) as "secretVersion",
        cast(extract(epoch from coalesce(rotated.rotated_at, webhooks.rotated_at, now())) as double precision) as "rotatedAt",
        rotated.secret_version is not null as done
      from webhooks left join rotated on true
      where webhook_id = ${webhookId}`,
    );
    if (!outcome.ok) return outcome;

    const [webhook] = outcome.value;
    if (!webhook) return webhookNotFound(webhookId, ports.environment);
    const rotatedAt = toIsoTime(webhook.rotatedAt);
    const previousSignsUntil = new Date(Date.parse(rotatedAt) + rotationOverlap).toISOString();
    if (!webhook.done) {
      return fail({
        code: 'rotation_running',
        message: `The secret of ${webhookId} was rotated at ${rotatedAt}, and the one before it signs until ${previousSignsUntil}. Another rotation would revoke that one at once; to do so, use "--again".`,
      });
    }
    return ok({ webhookId, secretVersion: webhook.secretVersion, rotatedAt, previousSignsUntil });
  },

  /** Enables a webhook again, for new events and for deliveries that come due from now on, and ends its pause. */
  async 'enable-webhook'({ webhookId }, ports) {
    const enabled = await executeWithinLimit(
      ports.database,
      sql`
        update webhooks set enabled = true, disabled_reason = null, disabled_at = null, unhealthy_at = default,
          paused_until = null, pause_reason = null, pause_seconds = null, failures = 0
        where webhook_id = ${webhookId}`,
    );
    return enabled.ok ? describeWebhook({ webhookId }, ports) : enabled;
  },

  /**
   * Its deliveries are dropped when they come due. If it is already disabled, its reason and time do not change. The caller sends
   * the event `webhook.disabled`.
   */
  async 'disable-webhook'({ webhookId }, ports) {
    const disabled = await ports.database.execute(sql`
      update webhooks set enabled = false, disabled_reason = coalesce(disabled_reason, 'operator'),
        disabled_at = coalesce(disabled_at, now())
      where webhook_id = ${webhookId}`);
    return disabled.ok ? describeWebhook({ webhookId }, ports) : disabled;
  },

  /** Removes a webhook permanently. Its pending deliveries are dropped; its attempts stay until they expire. */
  async 'remove-webhook'({ webhookId }, ports) {
    const removed = await ports.database.execute(sql`
      delete from webhooks where webhook_id = ${webhookId} returning organization_id`);
    if (!removed.ok) return removed;
    const [webhook] = removed.value;
    if (!webhook) return webhookNotFound(webhookId, ports.environment);
    return ok({ webhookId, organizationId: webhook.organization_id });
  },
} satisfies Partial<Operations>;
