import { randomUUID } from 'node:crypto';
import type { TokenMaker, WireRequest } from '../support/api';
import { type Mistake, mistakes } from '../support/deletion-mistakes';
import type { GroupStock } from '../support/group-stock';
import { oneOf } from '../support/random';
import { shareOfDue } from './settings';

/** A request that is made and signed, and not yet sent. */
export interface PreparedRequest {
  /** `deletion`, or what it is refused with. */
  readonly kind: string;
  /** `200`, or status and code of the refusal. */
  readonly expected: string;
  readonly groupId: string;
  readonly wire: WireRequest;
}

/** Requests that are no deletion by their very form. */
const malformed: readonly Mistake[] = [
  {
    answer: '400 invalid_user_group_id',
    make: (right) => ({ ...right, path: '/auth/user-groups/ug-1' }),
  },
  {
    answer: '401 token_malformed',
    make: ({ path, headers = [] }) => ({
      path,
      headers: [['authorization', 'Bearer x.y.z'], ...headers.slice(1)],
    }),
  },
];

const wrong = [...mistakes, ...malformed];

export interface RequestsOptions {
  readonly groups: GroupStock;
  readonly tokens: TokenMaker;
  readonly random: () => number;
}

/** Makes requests, each with a group and a signed user action of its own: most are due, the others wrong in one way. */
export async function makeRequests(
  count: number,
  { groups, tokens, random }: RequestsOptions,
): Promise<readonly PreparedRequest[]> {
  await groups.fill(count);
  const accessToken = await tokens.accessToken(groups.organization);
  const chosen = Array.from({ length: count }, () =>
    random() < shareOfDue ? undefined : oneOf(random, wrong),
  );
  return Promise.all(
    chosen.map(async (mistake) => {
      const groupId = groups.take() ?? '';
      const organization = { ...groups.organization, userGroupId: groupId };
      const right: WireRequest = {
        path: `/auth/user-groups/${groupId}`,
        headers: [
          ['authorization', `Bearer ${accessToken}`],
          ['x-svc-useraction', await tokens.userAction(organization, { jti: randomUUID() })],
        ],
      };
      if (!mistake) return { kind: 'deletion', expected: '200', groupId, wire: right };
      const { answer } = mistake;
      return {
        kind: answer,
        expected: answer,
        groupId,
        wire: await mistake.make(right, organization, tokens),
      };
    }),
  );
}
