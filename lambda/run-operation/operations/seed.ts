import { newId } from '../../../domain/ids';
import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { deleteUserGroups } from '../../shared/permission';
import { operation } from '../operation';
import { flagField, nameField } from '../request';

const shape = { userGroupName: nameField, ephemeral: flagField };

/**
 * Makes an organization with a caller, a service account and an end user, all members of one user group, all
 * holding `Auth:UserGroups:Delete` directly, and the group holding it too. The end user's kind is what keeps it
 * from deleting the group, so that the rule can be seen at work.
 *
 * With `ephemeral`, `remove-ephemeral-organizations` removes it all again; an organization without can never be removed.
 */
export const seed = operation(shape, async ({ userGroupName, ephemeral }, { database }) => {
  const made = {
    organizationId: newId('or'),
    callerId: newId('us'),
    serviceAccountId: newId('sa'),
    endUserId: newId('us'),
    userGroupId: newId('ug'),
    userGroupName,
  };
  const { organizationId, callerId, serviceAccountId, endUserId, userGroupId } = made;
  const permissionId = newId('pm');
  const outcome = await database.execute(sql`
    with organization as (
      insert into organizations (organization_id, ephemeral) values (${organizationId}, ${ephemeral})
    ), identity as (
      insert into identities (identity_id, organization_id, kind) values
        (${callerId}, ${organizationId}, 'CustomerEmployee'),
        (${serviceAccountId}, ${organizationId}, 'ServiceAccount'),
        (${endUserId}, ${organizationId}, 'EndUser')
    ), user_group as (
      insert into user_groups (user_group_id, organization_id, name)
      values (${userGroupId}, ${organizationId}, ${userGroupName})
    ), member as (
      insert into user_group_members (organization_id, user_group_id, identity_id) values
        (${organizationId}, ${userGroupId}, ${callerId}),
        (${organizationId}, ${userGroupId}, ${serviceAccountId}),
        (${organizationId}, ${userGroupId}, ${endUserId})
    ), permission as (
      insert into permissions (permission_id, organization_id, name, operations)
      values (${permissionId}, ${organizationId}, 'Delete user groups', array[${deleteUserGroups}])
    )
    insert into permission_assignments
      (assignment_id, organization_id, permission_id, identity_id, user_group_id)
    values
      (${newId('as')}, ${organizationId}, ${permissionId}, ${callerId}, null),
      (${newId('as')}, ${organizationId}, ${permissionId}, ${serviceAccountId}, null),
      (${newId('as')}, ${organizationId}, ${permissionId}, ${endUserId}, null),
      (${newId('as')}, ${organizationId}, ${permissionId}, null, ${userGroupId})`);
  return outcome.ok ? ok(made) : outcome;
});
