import type { WireRequest } from '../../support/api';
import { type Checks, median } from '../long-run';

/** A request to delete a group, and what came of it. */
export interface Deletion {
  readonly groupId: string;
  readonly userActionId: string;
  readonly wire: WireRequest;
  /** Each `200`, or status and code of a refusal: what it may get without a fault. */
  readonly expected: readonly string[];
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  /** As `expected`; absent without a documented response. */
  readonly response?: string;
  /** Why there is no response. */
  readonly error?: string;
  /** Whether a fault may have refused it. */
  readonly isDisturbed: boolean;
}

/** The remaining rows of a group, and the user actions that deleted it according to the audit. */
export interface GroupState {
  readonly groups: number;
  readonly members: number;
  readonly assignments: number;
  readonly deletions: readonly string[];
}

export function checkResponses(deletions: readonly Deletion[], checks: Checks): void {
  for (const { expected, response, error, isDisturbed, sentAt, wire } of deletions) {
    const what = `${new Date(sentAt).toISOString()} ${wire.path}: ${response ?? error}`;
    checks.hold('every request gets a documented response', response === undefined && what);
    const isRight = expected.includes(response ?? '') || (isDisturbed && response !== '200');
    checks.hold(
      isDisturbed ? 'nothing wrong succeeds during a fault' : 'responses are as expected',
      response !== undefined && !isRight && `${what} instead of ${expected.join(' or ')}`,
    );
  }
}

const isWhole = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 1 && members === 3 && assignments === 1 && deletions.length === 0;
const isGone = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 0 && members === 0 && assignments === 0 && deletions.length === 1;

/** Compares the groups with the requests that named them. */
export function checkGroups(
  deletions: readonly Deletion[],
  states: ReadonlyMap<string, GroupState>,
  checks: Checks,
): void {
  for (const [groupId, tried] of groupBy(deletions, 'groupId')) {
    const state = states.get(groupId) as GroupState;
    const permitted = tried.filter(({ expected }) => expected.includes('200'));
    const isRight = isGone(state)
      ? permitted.some(({ userActionId }) => userActionId === state.deletions[0])
      : isWhole(state) && tried.every(({ response }) => response !== '200');
    checks.hold(
      'groups are whole, or gone by a permitted request that the audit has',
      !isRight && `${groupId}: ${JSON.stringify(state)} after ${tried.map(({ response }) => response)}`,
    );
  }
}

/** @param uses how often the audit has each user action */
export function checkUserActions(
  deletions: readonly Deletion[],
  uses: ReadonlyMap<string, number>,
  checks: Checks,
): void {
  for (const [userActionId, tried] of groupBy(deletions, 'userActionId')) {
    const used = uses.get(userActionId) ?? 0;
    const responses = tried.map(({ response }) => response);
    const successes = responses.filter((response) => response === '200').length;
    const isRefused = responses.some((response) => response?.endsWith(' user_action_replayed'));
    const isRight = used <= 1 && successes <= used && !(used === 0 && isRefused);
    checks.hold(
      'user actions are used at most once',
      !isRight && `${userActionId}: ${used} times in the audit, responses ${responses}`,
    );
  }
}

/** As `Map.groupBy`, which Node.js 20 does not have. */
function groupBy(deletions: readonly Deletion[], key: 'groupId' | 'userActionId') {
  const groups = new Map<string, Deletion[]>();
  for (const deletion of deletions) {
    const group = groups.get(deletion[key]);
    if (group) group.push(deletion);
    else groups.set(deletion[key], [deletion]);
  }
  return groups;
}

/** Milliseconds from events to healthy receivers: beside slow ones and, at the same time and rate, in another environment. */
export function checkDelays(besideSlow: readonly number[], others: readonly number[], checks: Checks): void {
  const [delay, usual] = [median(besideSlow), median(others)];
  checks.hold(
    'slow receivers do not delay others',
    // On a busy machine they differ by chance. A slow receiver takes 14 s.
    delay > 3 * usual + 1_000 && `median ${delay} ms, elsewhere ${usual} ms`,
  );
}
