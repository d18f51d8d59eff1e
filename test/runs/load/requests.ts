import { type Mistake, mistakes } from '../../support/deletion-mistakes';
import { oneOf } from '../harness/random';
import { type DeletionRequest, signDeletion } from '../world/deletion-request';
import type { Place } from '../world/place';

/** A request that is signed and not yet sent. */
export interface PreparedRequest extends Pick<DeletionRequest, 'groupId' | 'wire'> {
  /** `200`, or status and code of the refusal. */
  readonly expected: string;
}

/** Of the requests, those that are deletions to be carried out. */
const shareOfDue = 0.6;

/** Requests that are refused before a function sees them, or by their form alone. */
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

/** Signs requests for a group each: most are due, the others wrong in one way. */
export async function makeRequests(
  count: number,
  place: Pick<Place, 'groups' | 'tokens'>,
  random: () => number,
): Promise<readonly PreparedRequest[]> {
  await place.groups.fill(count);
  const accessToken = await place.tokens.accessToken(place.groups.organization);
  const chosen = Array.from({ length: count }, () =>
    random() < shareOfDue ? undefined : oneOf(random, wrong),
  );
  return Promise.all(
    chosen.map(async (mistake) => {
      const groupId = place.groups.take() ?? '';
      const request = await signDeletion(place, { groupId, accessToken, mistake });
      return { ...request, expected: mistake?.answer ?? '200' };
    }),
  );
}
