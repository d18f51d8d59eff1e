import { newId } from '../../../domain/ids';
import { fail, ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { deleteUserGroups } from '../../shared/permission';
import { operation } from '../operation';
import { idField, nameField } from '../request';

const shape = { organizationId: idField('or'), userGroupName: nameField };

/**
 * Adds one more user group to an organization that `seed` made, with the same three identities as members. It is
 * for trying a deletion again: an organization without a caller of each kind that holds the permission is refused.
 */
export const addUserGroup = operation(shape, async ({ organizationId, userGroupName }, ports) => {
  const userGroupId = newId('ug');
  const outcome = await ports.database.execute(sql`
    with holder as (
      select distinct on (identities.kind) identities.kind, identities.identity_id, permissions.permission_id
      from identities
        join permission_assignments using (organization_id, identity_id)
        join permissions using (organization_id, permission_id)
      where organization_id = ${organizationId} and active and ${deleteUserGroups} = any (operations)
      order by identities.kind, identities.created_at, identities.identity_id
    ), user_group as (
      insert into user_groups (user_group_id, organization_id, name)
      select ${userGroupId}, ${organizationId}, ${userGroupName} where (select count(*) from holder) = 3
      on conflict (organization_id, name) do nothing
      returning organization_id, user_group_id
    ), member as (
      insert into user_group_members (organization_id, user_group_id, identity_id)
      select user_group.organization_id, user_group_id, identity_id from user_group, holder
    ), assignment as (
      insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
      select ${newId('as')}, organization_id, (select min(permission_id) from holder), user_group_id from user_group
    )
    select kind, identity_id, exists (select from user_group) as added from holder`);
  if (!outcome.ok) return outcome;

  const holders = new Map(outcome.value.map((row) => [row.kind, row.identity_id]));
  if (holders.size < 3) {
    return fail({
      code: 'organization_not_seeded',
      message: `${organizationId} is not an organization of environment ${ports.environment} with an active caller of each kind. Make one with "seed".`,
    });
  }
  if (!outcome.value[0]?.added) {
    return fail({
      code: 'user_group_name_taken',
      message: `The organization has a user group named "${userGroupName}" already. Delete it, or choose another name.`,
    });
  }
  return ok({
    organizationId,
    callerId: holders.get('CustomerEmployee'),
    serviceAccountId: holders.get('ServiceAccount'),
    endUserId: holders.get('EndUser'),
    userGroupId,
    userGroupName,
  });
});
