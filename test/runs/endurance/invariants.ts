import type { WireRequest } from '../../support/api';
import { type Checks, median } from '../long-run';

/** A request to delete a group, and what came of it. */
export interface Deletion {
  readonly groupId: string;
  readonly userActionId: string;
  readonly wire: WireRequest;
  /** Each `200`, or status and code of a refusal: what it may get without a fault. */
  readonly expected: readonly string[];
  /** When it was sent. */
  readonly date: string;
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

const isWhole = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 1 && members === 3 && assignments === 1 && deletions.length === 0;
const isGone = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 0 && members === 0 && assignments === 0 && deletions.length === 1;

export function checkResponses(deletions: readonly Deletion[], checks: Checks): void {
  for (const { expected, response, error, isDisturbed, date, wire } of deletions) {
    const what = `${date} ${wire.method ?? 'DELETE'} ${wire.path}: ${response ?? error}`;
    checks.hold('every request gets a documented response', response === undefined && what);
    const isRight = expected.includes(response ?? '') || (isDisturbed && response !== '200');
    checks.hold(
      isDisturbed ? 'nothing wrong succeeds during a fault' : 'responses are as expected',
      response !== undefined && !isRight && `${what} instead of ${expected.join(' or ')}`,
    );
  }
}

/** Compares the groups with the requests that named them. */
export function checkGroups(
  deletions: readonly Deletion[],
  states: ReadonlyMap<string, GroupState>,
  checks: Checks,
): void {
  for (const [groupId, tried] of groupBy(deletions, 'groupId')) {
    const state = states.get(groupId);
    const permitted = tried.filter(({ expected }) => expected.includes('200'));
    const problem =
      (!(state && (isWhole(state) || isGone(state))) && 'is neither whole nor gone') ||
      (state && isWhole(state) && tried.some(({ response }) => response === '200') && 'exists after a 200') ||
      (state &&
        isGone(state) &&
        !permitted.some(({ userActionId }) => userActionId === state.deletions[0]) &&
        'was deleted by no request that may');
    checks.hold(
      'groups are whole, or gone as the audit says',
      problem && `${groupId} ${problem}: ${JSON.stringify(state)}`,
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
    const successes = tried.filter(({ response }) => response === '200').length;
    const isRefused = tried.some(({ response }) => response?.endsWith(' user_action_replayed'));
    const isRight = used <= 1 && successes <= used && !(used === 0 && isRefused);
    checks.hold(
      'user actions are used at most once',
      !isRight &&
        `${userActionId}: ${used} times in the audit, responses ${tried.map(({ response }) => response)}`,
    );
  }
}

/** As `Map.groupBy`, which Node.js 20 does not have. */
function groupBy(deletions: readonly Deletion[], key: 'groupId' | 'userActionId') {
  const groups = new Map<string, Deletion[]>();
  for (const deletion of deletions) {
    const group = groups.get(deletion[key]) ?? [];
    group.push(deletion);
    groups.set(deletion[key], group);
  }
  return groups;
}

/** Milliseconds from events to healthy receivers: beside slow ones and, at the same time and rate, in another environment. */
export function checkDelays(besideSlow: readonly number[], others: readonly number[], checks: Checks): void {
  const [delay, usual] = [median(besideSlow), median(others)];
  checks.hold(
    'slow receivers do not delay others',
    delay > 2 * usual + 300 && `median ${delay} ms, elsewhere ${usual} ms`,
    besideSlow.length,
  );
}

/** What a process holds after garbage collection: JavaScript objects, and memory such as buffers. */
export interface MemorySample {
  readonly process: string;
  readonly bytes: number;
}

/** Of one process, to see growth. */
const enoughSamples = 6;
/** V8 compiles hot code late: growth must exceed both. */
const allowedGrowth = { ratio: 1.1, bytes: 2 * 2 ** 20 };

/** Compares the last third of each process's samples with the second; caches and connections fill in the first. */
export function checkMemory(samples: readonly MemorySample[], checks: Checks): void {
  for (const name of new Set(samples.map((sample) => sample.process))) {
    const own = samples.filter((sample) => sample.process === name).map(({ bytes }) => bytes);
    if (own.length < enoughSamples) continue;
    const third = Math.floor(own.length / 3);
    const [middle, end] = [median(own.slice(-2 * third, -third)), median(own.slice(-third))];
    const isGrowing = end > middle * allowedGrowth.ratio && end > middle + allowedGrowth.bytes;
    checks.hold('memory does not grow', isGrowing && `${name}: ${middle} to ${end} bytes`, own.length);
  }
}
