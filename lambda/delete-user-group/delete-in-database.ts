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

/**
 * Port: deletes a group with its assignments and memberships, consumes the user action and writes the audit record,
 * all or nothing, if the caller is permitted. Repeating a deletion (same request, same user action) reports the first outcome.
 */
export type DeleteUserGroup = (
  deletion: UserGroupDeletion,
) => Promise<Result<DeletionOutcome, DatabaseUnavailable>>;

/** Maximum attempts when another request races for the same user action, or the connection is lost. */
const attempts = 3;

/**
 * Implements the port on the region's database: one statement, one round trip.
 *
 * Two requests can race for one user action: the loser waits for the winner's commit but still reads the state from
 * before it, and reports `contended`. A retry sees the winner's changes. A lost connection is retried too: the
 * statement may have been executed, and the retry reports its outcome instead of a replay.
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
