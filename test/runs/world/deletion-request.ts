import { randomUUID } from 'node:crypto';
import type { TokenMaker, WireRequest } from '../../support/api';
import type { Mistake } from '../../support/deletion-mistakes';
import type { GroupStock } from './groups';

/** A signed request to delete a group. */
export interface DeletionRequest {
  readonly groupId: string;
  readonly userActionId: string;
  /** The user action. */
  readonly signature: string;
  readonly wire: WireRequest;
}

export interface DeletionWish {
  readonly groupId: string;
  /** @default - a new one */
  readonly userActionId?: string;
  /** A user action that was signed before. @default - one is signed */
  readonly signature?: string;
  /** @default - a new one, which the authorizer has not cached */
  readonly accessToken?: string;
  /** What is wrong with it. @default - nothing */
  readonly mistake?: Mistake | undefined;
}

export async function signDeletion(
  { groups, tokens }: { readonly groups: GroupStock; readonly tokens: TokenMaker },
  { groupId, userActionId = randomUUID(), mistake, ...wish }: DeletionWish,
): Promise<DeletionRequest> {
  const organization = { ...groups.organization, userGroupId: groupId };
  const signature = wish.signature ?? (await tokens.userAction(organization, { jti: userActionId }));
  const right: WireRequest = {
    path: `/auth/user-groups/${groupId}`,
    headers: [
      ['authorization', `Bearer ${wish.accessToken ?? (await tokens.accessToken(organization))}`],
      ['x-svc-useraction', signature],
    ],
  };
  const wire = mistake ? await mistake.make(right, organization, tokens) : right;
  return { groupId, userActionId, signature, wire };
}

/** `200`, or status and code of a problem. */
export const inWords = (status: number, code: string | undefined): string =>
  status === 200 ? '200' : `${status} ${code}`;

/** What a replay is answered with. */
export const replayed = inWords(403, 'user_action_replayed');
