import { fail, ok, type Result } from '../../domain/result';
import type { Problem } from '../shared/problem';
import type { DeleteUserGroup, DeletionOutcome } from './delete-in-database';
import type { DeletionRequest } from './request';
import type { UserActionProblem, VerifyUserAction } from './user-action';

/** A refusal: what the caller is told, and a cause for the log. */
export type DeletionRefused = Problem & { readonly cause?: string };

export interface DeletionPorts {
  readonly verifyUserAction: VerifyUserAction;
  readonly deleteUserGroup: DeleteUserGroup;
}

const refusals: Record<Exclude<DeletionOutcome, 'deleted'>, Problem> = {
  user_action_replayed: {
    code: 'user_action_replayed',
    detail: 'The user action signature has been used before. Sign the action again.',
  },
  permission_missing: {
    code: 'permission_missing',
    detail: 'The caller does not hold Auth:UserGroups:Delete, or is deactivated.',
  },
  user_group_not_found: {
    code: 'user_group_not_found',
    detail: "There is no such user group in the caller's organization.",
  },
};

const unavailable = {
  code: 'database_unavailable',
  detail:
    'The database did not answer in time. The deletion may have been carried out. Send it again with a new user action signature.',
} as const;

/** Deletes the group when the user action is good for it and the caller may. */
export async function deleteUserGroup(
  ports: DeletionPorts,
  request: DeletionRequest & { readonly requestId: string },
): Promise<Result<'deleted', DeletionRefused | UserActionProblem>> {
  const { caller, userGroupId, userActionSignatures, requestId } = request;
  const scope = { caller, method: 'DELETE', path: `/auth/user-groups/${userGroupId}` } as const;
  const userAction = ports.verifyUserAction(userActionSignatures, scope);
  if (!userAction.ok) return userAction;

  const outcome = await ports.deleteUserGroup({
    caller,
    userGroupId,
    userAction: userAction.value,
    requestId,
  });
  if (!outcome.ok) return fail({ ...unavailable, cause: outcome.error.reason });
  return outcome.value === 'deleted' ? ok('deleted') : fail(refusals[outcome.value]);
}
