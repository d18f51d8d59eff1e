import type { OperationError } from '../../domain/operations';
import { fail, ok } from '../../domain/result';
import type { Database, Row } from '../database/database';
import { sql } from '../database/sql';

/**
 * Enabled webhooks of one organization: as many as fit one answer of the Data API, 1 MiB, with their kinds and URLs, and
 * as one event is fanned out to within the function's time.
 */
export const maxWebhooks = 50;

/** An organization's webhooks, or the one of an id: the enabled ones, then as many of the others as an answer takes. */
export async function findWebhooks(
  database: Database,
  { organizationId, webhookId }: { readonly organizationId?: string; readonly webhookId?: string },
) {
  const outcome = await database.execute(sql`
    select webhook_id, organization_id, url, array_to_string(kinds, ',') as kinds, enabled, disabled_reason,
      cast(extract(epoch from disabled_at) as double precision) as disabled_at,
      secret_version, cast(extract(epoch from rotated_at) as double precision) as rotated_at,
      cast(extract(epoch from created_at) as double precision) as created_at
    from webhooks
    where organization_id = ${organizationId ?? null} or webhook_id = ${webhookId ?? null}
    order by enabled desc, webhooks.created_at desc, webhook_id
    limit ${maxWebhooks}`);
  return outcome.ok ? ok(outcome.value.map(toWebhook)) : outcome;
}

/** The answer about a webhook that does not exist. */
export const webhookNotFound = (webhookId: string, environment: string) =>
  fail<OperationError>({
    code: 'webhook_not_found',
    message: `There is no webhook ${webhookId} in environment ${environment}. "webhook list" tells those of an organization.`,
  });

/** The answer about an organization that does not exist. */
export const organizationNotFound = (organizationId: string, environment: string) =>
  fail<OperationError>({
    code: 'organization_not_found',
    message: `There is no organization ${organizationId} in environment ${environment}. "seed" makes one.`,
  });

/** A webhook as operators see it. */
function toWebhook(row: Row) {
  return {
    webhookId: String(row.webhook_id),
    organizationId: String(row.organization_id),
    url: String(row.url),
    kinds: row.kinds === null ? null : String(row.kinds).split(','),
    enabled: row.enabled === true,
    disabledReason: row.disabled_reason === null ? null : String(row.disabled_reason),
    disabledAt: row.disabled_at === null ? null : toIsoTime(row.disabled_at),
    secretVersion: Number(row.secret_version),
    rotatedAt: row.rotated_at === null ? null : toIsoTime(row.rotated_at),
    createdAt: toIsoTime(row.created_at),
  };
}

/** ISO 8601, UTC. @param epoch seconds since 1970 */
export const toIsoTime = (epoch: unknown): string => new Date(Math.round(Number(epoch) * 1000)).toISOString();
