import { fail, ok, type Result } from '../../domain/result';
import { type Caller, deleteUserGroups } from '../../domain/tokens';
import { type Database, type DatabaseUnavailable, type Statement, sql } from '../database/database';
import type { UserAction } from '../shared/user-action';

/** A well-formed deletion with a valid user action signature. */
export interface UserGroupDeletion {
  readonly caller: Caller;
  readonly userGroupId: string;
  readonly userAction: UserAction;
  /** The gateway's request id: identifies a retry of the same request. */
  readonly requestId: string;
}

type DeletionOutcome = 'deleted' | 'user_group_not_found' | 'permission_missing' | 'user_action_replayed';

/** All or nothing. A repeat (same request, same user action) reports the first outcome. */
export type DeleteUserGroup = (
  deletion: UserGroupDeletion,
) => Promise<Result<DeletionOutcome, DatabaseUnavailable>>;

const attempts = 3;

/**
 * One statement, one round trip. Of two requests that race for a user action, the loser waits for the winner's commit but still
 * reads the state from before it (`contended`), so it is sent again. So is one whose connection was lost: a repeat of the same
 * request returns the first outcome.
 */
export function deleteInDatabase(database: Database): DeleteUserGroup {
  return async (deletion) => {
    let last: DatabaseUnavailable = { kind: 'database_unavailable', reason: 'user_action_contended' };
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const result = await database.execute(deletionStatement(deletion));
      if (result.ok) {
        const outcome = result.value[0]?.outcome as DeletionOutcome | 'contended';
        if (outcome !== 'contended') return ok(outcome);
      } else {
        last = result.error;
        if (last.reason !== 'connection_lost') break;
      }
    }
    return fail(last);
  };
}

/** Calls the schema's function, which documents the checks. */
export function deletionStatement({
  caller,
  userGroupId,
  userAction,
  requestId,
}: UserGroupDeletion): Statement {
  return sql`
    select delete_user_group(
      the_organization_id => ${caller.organizationId},
      the_identity_id => ${caller.identityId},
      the_kind => ${caller.kind},
      the_operation => ${deleteUserGroups},
      the_user_group_id => ${userGroupId},
      the_user_action_id => ${userAction.id},
      the_expiry => ${userAction.expiresAt}::double precision,
      the_request_id => ${requestId}) as outcome`;
}
