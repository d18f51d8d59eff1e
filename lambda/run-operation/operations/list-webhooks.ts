import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';
import { findWebhooks, organizationNotFound } from '../webhook';

/** An organization's webhooks: the enabled ones first, the latest first, at most `maxWebhooks`. */
export const listWebhooks = operation(
  { organizationId: idField('or') },
  async ({ organizationId }, ports) => {
    const webhooks = await findWebhooks(ports.database, { organizationId });
    if (!webhooks.ok) return webhooks;
    if (webhooks.value.length > 0) return ok({ webhooks: webhooks.value });

    const organization = await ports.database.execute(sql`
    select organization_id from organizations where organization_id = ${organizationId}`);
    if (!organization.ok) return organization;
    if (organization.value.length === 0) return organizationNotFound(organizationId, ports.environment);
    return ok({ webhooks: [] });
  },
);
