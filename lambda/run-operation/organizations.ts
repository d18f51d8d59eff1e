import { newId } from '../../domain/ids';
import { fail, ok } from '../../domain/result';
import { deleteUserGroups } from '../../domain/tokens';
import { query, sql } from '../database/database';
import { type Operations, withTimes } from './operation';

const auditColumns = {
  date: 'number',
  organizationId: 'text',
  identityId: 'text',
  operation: 'text',
  subjectId: 'text',
  subjectName: 'text?',
  outcome: 'text',
  requestId: 'text',
} as const;

export const organizations = {
  /**
   * All three members and the group hold `Auth:UserGroups:Delete`, so only its kind keeps the end user from deleting the group.
   * Only an `ephemeral` organization can be removed again.
   */
  async seed({ userGroupName, ephemeral }, { database }) {
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
  },

  /**
   * Also removes any other that is older than a day. The database permits nothing more: this function's role may delete only
   * webhooks. Audit records stay forever, used user actions and attempts until they expire.
   */
  async 'remove-ephemeral-organizations'({ organizationId }, ports) {
    const removal = await query(
      ports.database,
      { removed: 'text' },
      sql`select removed from remove_ephemeral_organizations(${organizationId}) as removed`,
    );
    if (!removal.ok) return removal;

    const removed = removal.value.map((row) => row.removed);
    if (removed.includes(organizationId)) return ok({ removed });
    const remaining = await ports.database.execute(sql`
      select organization_id from organizations where organization_id = ${organizationId}`);
    if (!remaining.ok) return remaining;
    if (remaining.value.length === 0) return ok({ removed });
    return fail({
      code: 'organization_not_ephemeral',
      message: `${organizationId} is not ephemeral and cannot be removed.`,
    });
  },

  /** The organization and kind of an identity, as in its tokens. */
  async 'describe-identity'({ identityId }, ports) {
    const outcome = await query(
      ports.database,
      { identityId: 'text', organizationId: 'text', kind: 'text', active: 'boolean' },
      sql`
      select identity_id as "identityId", organization_id as "organizationId", kind, active
      from identities where identity_id = ${identityId}`,
    );
    if (!outcome.ok) return outcome;

    const [identity] = outcome.value;
    if (identity) return ok(identity);
    return fail({
      code: 'identity_not_found',
      message: `There is no identity ${identityId} in environment ${ports.environment}.`,
    });
  },

  /** A user group's audit records, latest first, at most 100. They outlive the group and its organization. */
  async 'list-audit-records'({ userGroupId }, ports) {
    const found = await query(
      ports.database,
      auditColumns,
      sql`
      select cast(extract(epoch from occurred_at) as double precision) as date, organization_id as "organizationId",
        identity_id as "identityId", operation, subject_id as "subjectId", subject_name as "subjectName", outcome,
        request_id as "requestId"
      from audit_records
      where subject_id = ${userGroupId}
      order by audit_record_id desc
      limit 100`,
    );
    if (!found.ok) return found;
    if (found.value.length > 0) return ok({ records: found.value.map((row) => withTimes(row, 'date')) });
    const group = await ports.database.execute(sql`
      select user_group_id from user_groups where user_group_id = ${userGroupId}`);
    if (!group.ok) return group;
    if (group.value.length > 0) return ok({ records: [] });
    return fail({
      code: 'user_group_not_found',
      message: `There is no user group ${userGroupId} in environment ${ports.environment}, and no audit record of one.`,
    });
  },
} satisfies Partial<Operations>;
