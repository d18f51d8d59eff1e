import type { Result } from '../../domain/result';
import type { Caller } from '../../domain/tokens';
import type { DatabaseUnavailable } from '../database/database';

/** A deletion that is well-formed and carries a user action signature that is good for it. */
export interface UserGroupDeletion {
  readonly caller: Caller;
  readonly userGroupId: string;
  readonly userAction: UserAction;
  /** The gateway's id of the request: a repeat with the same one is the same request. */
  readonly requestId: string;
}

export interface UserAction {
  /** The signature's `jti`. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

export type DeletionOutcome =
  | 'deleted'
  | 'user_group_not_found'
  | 'permission_missing'
  | 'user_action_replayed';

/**
 * Port: deletes a group with its assignments and memberships, spends the user action and writes the audit record,
 * all or nothing, if the caller may. Repeating a deletion (same request, same user action) reports the first outcome.
 */
export type DeleteUserGroup = (
  deletion: UserGroupDeletion,
) => Promise<Result<DeletionOutcome, DatabaseUnavailable>>;
