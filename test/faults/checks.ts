import { type GroupState, isGone, isWhole } from '../support/group-stock';
import type { Findings, MadeFault } from './findings';
import { type Attempt, usesUp } from './traffic/attempt';
import { replayed } from './traffic/deletions';
import type { Place } from './world';

/** Holds answers that came since the last time against what was expected of them, and of the faults at that time. */
export function checkAnswers(
  attempts: readonly Attempt[],
  faults: readonly MadeFault[],
  findings: Findings,
): void {
  for (const attempt of attempts) {
    const { environment, kind, answer = 'none', expected } = attempt;
    // What was wrong with its shape was said when it came.
    findings.count('answers in a documented shape');
    const isExpected = expected.includes(answer);
    const told = `${environment}: ${answer} for a deletion that was ${kind}, instead of ${expected.join(' or ')}`;
    if (faults.some((fault) => troubles(fault, attempt))) {
      if (answer === '200' && !isExpected) findings.violate(`${told}, in the course of a fault`);
    } else {
      findings.check('answers as expected where nothing is in trouble', isExpected ? undefined : told);
    }
  }
}

/** Whether the fault may have changed what the attempt came to. */
export function troubles(
  fault: MadeFault,
  { environment, sentAt, answeredAt = Date.now() }: Attempt,
): boolean {
  const { kind, environments, from, until, deletionsRecovered } = fault;
  return (
    kind.troublesDeletions &&
    environments.includes(environment) &&
    answeredAt >= from &&
    sentAt <= (deletionsRecovered.get(environment) ?? until)
  );
}

/** Holds the state of groups in the database against the answers that had come before it was read. */
export async function checkGroups(
  { name, groups }: Place,
  attempts: readonly Attempt[],
  findings: Findings,
): Promise<void> {
  const answered = attempts.map((attempt) => ({ ...attempt }));
  const byGroup = groupBy(answered, ({ groupId }) => groupId);
  const states = await groups.look([...byGroup.keys()]);
  for (const [groupId, tried] of byGroup) {
    const problem = wrongState(states.get(groupId), tried);
    findings.check(
      'groups whole, or gone with everything, as the audit says',
      problem && `${name}: ${groupId} ${problem}`,
    );
  }

  const byAction = groupBy(answered, ({ userActionId }) => userActionId);
  const uses = await groups.countUses([...byAction.keys()]);
  for (const [userActionId, tried] of byAction) {
    const problem = wrongUse(uses.get(userActionId) ?? 0, tried);
    findings.check('user actions used at most once', problem && `${name}: ${userActionId} ${problem}`);
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

/** Those of the missing deliveries that are not among the dead letters, nor is their event. */
export const lost = (missing: readonly string[], deadLetters: readonly string[]): readonly string[] =>
  missing.filter((delivery) =>
    deadLetters.every((letter) => delivery !== letter && !delivery.startsWith(`${letter} for `)),
  );

/**
 * Every accepted event has arrived. A delivery is tried for 72 hours, which no run lasts nor any step of a clock
 * reaches, and every event is well-formed: what lies dead was given up too early.
 */
export function checkDeliveries(
  { name, events }: Pick<Place, 'name' | 'events'>,
  deadLetters: readonly string[],
  findings: Findings,
): void {
  findings.count('accepted events delivered, none given up', events.deliveries);
  for (const letter of deadLetters) findings.violate(`${name}: ${letter} is a dead letter`);
  for (const delivery of lost(events.missing(), deadLetters))
    findings.violate(`${name}: ${delivery} is lost`);
}

/** How many groups are made again at a time. */
const revived = 3;

/** Makes groups again that were deleted, and sends the requests that deleted them once more. */
export async function checkReplays(
  { name, groups, deletions }: Place,
  attempts: readonly Attempt[],
  findings: Findings,
): Promise<void> {
  const deletedBy = attempts.filter(({ kind, answer }) => kind === 'due' && answer === '200').slice(-revived);
  const ids = deletedBy.map(({ groupId }) => groupId);
  await groups.revive(ids);
  for (const first of deletedBy) {
    const { answer } = await deletions.replay(first, [replayed]);
    const state = (await groups.look([first.groupId])).get(first.groupId);
    const isRefused = answer === replayed && state?.groups === 1 && state.members > 0;
    findings.check(
      'used user actions refused for a group made again',
      isRefused
        ? undefined
        : `${name}: ${first.groupId} was answered with ${answer}: ${JSON.stringify(state)}`,
    );
  }
  await groups.remove(ids);
}

function groupBy<Key>(attempts: readonly Attempt[], keyOf: (attempt: Attempt) => Key): Map<Key, Attempt[]> {
  const groups = new Map<Key, Attempt[]>();
  for (const attempt of attempts) {
    const group = groups.get(keyOf(attempt)) ?? [];
    groups.set(keyOf(attempt), [...group, attempt]);
  }
  return groups;
}
