import { fail, ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField } from '../request';

/**
 * Removes an organization that was made to be thrown away, with its webhooks, user groups, permissions and identities,
 * and any that was left behind more than a day ago. Repeating it changes nothing.
 *
 * Any other organization is refused, by the database itself: this function's role can delete webhooks alone. What was recorded
 * of the organization stays: its audit records for good, used user actions and attempts until they expire.
 */
export const removeEphemeralOrganizations = operation(
  { organizationId: idField('or') },
  async ({ organizationId }, ports) => {
    const removal = await ports.database.execute(sql`
      select removed as organization_id from remove_ephemeral_organizations(${organizationId}) as removed`);
    if (!removal.ok) return removal;

    const removed = removal.value.map((row) => row.organization_id);
    if (removed.includes(organizationId)) return ok({ removed });
    const remaining = await ports.database.execute(sql`
      select organization_id from organizations where organization_id = ${organizationId}`);
    if (!remaining.ok) return remaining;
    if (remaining.value.length === 0) return ok({ removed });
    return fail({
      code: 'organization_not_ephemeral',
      message: `${organizationId} was not made to be thrown away: it is never removed.`,
    });
  },
);
