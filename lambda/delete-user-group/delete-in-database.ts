import type { Database, DatabaseUnavailable } from '../database/database';
import { type Statement, sql } from '../database/sql';
import { deleteUserGroups } from '../shared/permission';
import { fail, ok, type Result } from '../shared/result';
import type { DeleteUserGroup, DeletionOutcome, UserGroupDeletion } from './user-group-deletion';

/** How often a deletion is sent again when another request raced it to the same user action, or its answer was lost. */
const attempts = 3;

/**
 * The port on the region's database: one statement, one round trip.
 *
 * Two requests can race to one user action: the loser waits for the winner's commit but still reads the state from
 * before it, and reports `contended`. Sent again, it sees what the winner did. A lost connection is handled alike:
 * the statement may have been carried out, and a repeat reports its outcome instead of a replay.
 */
export function deleteInDatabase(database: Database): DeleteUserGroup {
  return async (deletion) => {
    let last: DatabaseUnavailable = { kind: 'database_unavailable', reason: 'user_action_contended' };
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const result = await attemptDeletion(database, deletion);
      if (result.ok && result.value !== 'contended') return ok(result.value);
      if (!result.ok) {
        last = result.error;
        if (last.reason !== 'connection_lost') break;
      }
    }
    return fail(last);
  };
}

async function attemptDeletion(
  database: Database,
  deletion: UserGroupDeletion,
): Promise<Result<DeletionOutcome | 'contended', DatabaseUnavailable>> {
  const result = await database.execute(deletionStatement(deletion));
  return result.ok ? ok(result.value[0]?.outcome as DeletionOutcome | 'contended') : result;
}

/**
 * `prior`: this user action's first use, if there was one, by its audit record, which outlives the row of the use: an id
 * that a signer gives out twice is a replay on any day. `permitted`: the caller, when active and holding the
 * permission now, directly or through a group; looked up from the caller and from each of the caller's groups (to which
 * `offset 0` keeps the planner), because the organization may have any number of assignments. `spent`: the user action,
 * used up only by a caller who may; the primary key lets one of many through. `deleted`: the group; members and
 * assignments go by cascade. `audited`: its record.
 */
export function deletionStatement({
  caller,
  userGroupId,
  userAction,
  requestId,
}: UserGroupDeletion): Statement {
  return sql`
    with prior as (
      select coalesce(used.request_id = ${requestId} and used.identity_id = ${caller.identityId}, false) as same_request,
        audit.outcome
      from audit_records audit
      left join used_user_actions used on used.user_action_id = audit.user_action_id
      where audit.user_action_id = ${userAction.id}
    ),
    permitted as (
      select caller.organization_id, caller.identity_id
      from identities caller
      where caller.organization_id = ${caller.organizationId}
        and caller.identity_id = ${caller.identityId}
        and caller.kind = ${caller.kind}
        and caller.kind in ('CustomerEmployee', 'ServiceAccount')
        and caller.active
        and (
          exists (
            select from permission_assignments assignment
            join permissions permission
              on permission.organization_id = assignment.organization_id
              and permission.permission_id = assignment.permission_id
            where assignment.organization_id = caller.organization_id
              and assignment.identity_id = caller.identity_id
              and ${deleteUserGroups} = any (permission.operations)
          )
          or exists (
            select from user_group_members member
            where member.organization_id = caller.organization_id
              and member.identity_id = caller.identity_id
              and exists (
                select from permission_assignments assignment
                join permissions permission
                  on permission.organization_id = assignment.organization_id
                  and permission.permission_id = assignment.permission_id
                where assignment.organization_id = member.organization_id
                  and assignment.user_group_id = member.user_group_id
                  and ${deleteUserGroups} = any (permission.operations)
                offset 0
              )
          )
        )
    ),
    spent as (
      insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
      select ${userAction.id}, permitted.organization_id, permitted.identity_id, ${requestId},
        to_timestamp(${userAction.expiresAt}::double precision)
      from permitted
      where not exists (select from prior)
      on conflict (user_action_id) do nothing
      returning user_action_id, organization_id, identity_id, request_id
    ),
    deleted as (
      delete from user_groups user_group
      using spent
      where user_group.organization_id = spent.organization_id and user_group.user_group_id = ${userGroupId}
      returning user_group.name
    ),
    audited as (
      insert into audit_records
        (organization_id, identity_id, operation, subject_id, subject_name, outcome, request_id, user_action_id)
      select spent.organization_id, spent.identity_id, ${deleteUserGroups}, ${userGroupId},
        (select name from deleted),
        case when exists (select from deleted) then 'deleted' else 'user_group_not_found' end,
        spent.request_id, spent.user_action_id
      from spent
      returning outcome
    )
    select case
      when (select same_request from prior) then (select outcome from prior)
      when exists (select from prior) then 'user_action_replayed'
      when not exists (select from permitted) then 'permission_missing'
      else coalesce((select outcome from audited), 'contended')
    end as outcome`;
}
