import type { Checks } from '../harness/checks';
import { groupBy } from '../harness/group-by';
import { replayed } from '../world/deletion-request';
import { type GroupState, isGone, isWhole } from '../world/groups';
import { type Attempt, usesUp } from './attempt';
import type { CheckName } from './check-names';
import { type MadeFault, troubles } from './made-fault';
import type { TroubledPlace } from './world';

type FaultChecks = Checks<CheckName>;

/** Holds answers that came since the last time against what was expected of them, and of the faults at that time. */
export function checkAnswers(
  attempts: readonly Attempt[],
  faults: readonly MadeFault[],
  checks: FaultChecks,
): void {
  const name = 'answers as expected where nothing is in trouble';
  for (const attempt of attempts) {
    const { environment, kind, answer = 'none', expected } = attempt;
    const isExpected = expected.includes(answer);
    const told = `${environment}: ${answer} for a deletion that was ${kind}, instead of ${expected.join(' or ')}`;
    if (!faults.some((fault) => troubles(fault, attempt))) {
      checks.hold(name, isExpected ? undefined : told);
    } else if (answer === '200' && !isExpected) {
      checks.hold(name, `${told}, in the course of a fault`);
    }
  }
}

/** Holds the state of groups in the database against the answers that had come before it was read. */
export async function checkGroups(
  { name, groups }: Pick<TroubledPlace, 'name' | 'groups'>,
  attempts: readonly Attempt[],
  checks: FaultChecks,
): Promise<void> {
  const answered = attempts.map((attempt) => ({ ...attempt }));
  const byGroup = groupBy(answered, ({ groupId }) => groupId);
  const states = await groups.look([...byGroup.keys()]);
  for (const [groupId, tried] of byGroup) {
    const problem = wrongState(states.get(groupId), tried);
    checks.hold(
      'groups whole, or gone with everything, as the audit says',
      problem && `${name}: ${groupId} ${problem}`,
    );
  }

  const byAction = groupBy(answered, ({ userActionId }) => userActionId);
  const uses = await groups.countUses([...byAction.keys()]);
  for (const [userActionId, tried] of byAction) {
    const problem = wrongUse(uses.get(userActionId) ?? 0, tried);
    checks.hold('user actions used at most once', problem && `${name}: ${userActionId} ${problem}`);
  }
}

function wrongState(state: GroupState | undefined, tried: readonly Attempt[]): string | undefined {
  const told = JSON.stringify(state);
  if (!state || !(isWhole(state) || isGone(state))) return `is neither whole nor gone: ${told}`;
  const deleted = isGone(state);
  if (!deleted && tried.some(({ answer }) => answer === '200')) return `is there after a 200: ${told}`;
  const mayBe = tried.filter(({ kind }) => kind !== 'refused').map(({ userActionId }) => userActionId);
  if (deleted && !mayBe.includes(state.deletions[0] ?? '')) return `is gone by no request of ours: ${told}`;
  return undefined;
}

function wrongUse(uses: number, tried: readonly Attempt[]): string | undefined {
  const successes = tried.filter(usesUp).length;
  if (uses > 1 || successes > 1) return `was used ${uses} times, with ${successes} answers that say so`;
  if (uses > 0) return undefined;
  if (successes === 1) return 'was used by its answer, but the audit has it not';
  return tried.some(({ answer }) => answer === replayed) ? 'was refused as used, and never was' : undefined;
}

/** The missing deliveries that are not dead letters, and whose event is none. */
export const lost = (missing: readonly string[], deadLetters: readonly string[]): readonly string[] =>
  missing.filter((delivery) =>
    deadLetters.every((letter) => delivery !== letter && !delivery.startsWith(`${letter} for `)),
  );

/**
 * Every accepted event has arrived. A delivery is tried for 72 hours, longer than any run or step of a clock, and every
 * event is well-formed: a dead letter was given up too early.
 */
export function checkDeliveries(
  { name, events }: Pick<TroubledPlace, 'name' | 'events'>,
  deadLetters: readonly string[],
  checks: FaultChecks,
): void {
  const check = 'accepted events delivered, none given up';
  checks.hold(check, undefined, events.deliveries);
  const problems = [
    ...deadLetters.map((letter) => `${letter} is a dead letter`),
    ...lost(events.missing(), deadLetters).map((delivery) => `${delivery} is lost`),
  ];
  for (const problem of problems) checks.hold(check, `${name}: ${problem}`, 0);
}

/** How many groups are made again at a time. */
const revived = 3;

/** Makes groups again that were deleted, and sends the requests that deleted them once more. */
export async function checkReplays(
  { name, groups, deletions }: TroubledPlace,
  attempts: readonly Attempt[],
  checks: FaultChecks,
): Promise<void> {
  const deletedBy = attempts.filter(({ kind, answer }) => kind === 'due' && answer === '200').slice(-revived);
  const ids = deletedBy.map(({ groupId }) => groupId);
  await groups.revive(ids);
  for (const first of deletedBy) {
    const { answer } = await deletions.replay(first, [replayed]);
    const state = (await groups.look([first.groupId])).get(first.groupId);
    const isRefused = answer === replayed && state?.groups === 1 && state.members > 0;
    checks.hold(
      'used user actions refused for a group made again',
      isRefused
        ? undefined
        : `${name}: ${first.groupId} was answered with ${answer}: ${JSON.stringify(state)}`,
    );
  }
  await groups.remove(ids);
}
