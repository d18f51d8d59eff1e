import { setTimeout as pause } from 'node:timers/promises';
import { deleteGateway, holderInWords, tellHolder } from './address-holder';
import type { OriginApis } from './apis';
import { type Plan, readPlan } from './move-facts';
import { updateFailed, waitedTooLong } from './move-failures';
import { patience } from './move-plan';
import { noZone, type Place, placeInWords } from './place';
import { createProgress, type Progress } from './progress';
import { addressAt, type OriginStack } from './stack';
import { cancelUpdate, continueRollback, updatePlace } from './stack-operations';
import { cancelCommand } from './stack-status';
import { describeStep } from './step-words';
import { waitForUpdate } from './wait-for-update';

/** An update that was done, or that an earlier run had begun. */
export interface DoneUpdate extends Place {
  readonly seconds: number;
}

export interface MoveOptions {
  /** Milliseconds between questions. */
  readonly interval: number;
  /** Milliseconds since 1970: when to wait no longer. */
  readonly deadline: number;
  /** The command that goes on. */
  readonly again: string;
  report(line: string): void;
  /** @throws CommandFailed when the answer is no */
  confirm(question: string): Promise<void>;
}

/** Does one step after the other, and reads stack and EC2 again before each: other people and CI update it too. */
export async function move(
  apis: OriginApis,
  destination: Place,
  options: MoveOptions,
): Promise<readonly DoneUpdate[]> {
  const progress = createProgress(options.report);
  const done: DoneUpdate[] = [];
  const deleted = new Set<string>();
  for (;;) {
    const plan = await readPlan(apis, destination);
    if (plan.steps.length === 0) return done;
    if (Date.now() >= options.deadline)
      throw await waitedTooLong(apis, plan.stack, destination, options.again);
    const begun = await begin(apis, plan, deleted, { ...options, progress });
    const end = begun && (await follow(apis, plan.stack, begun, { ...options, progress }));
    if (end) done.push(end);
    // An answer that was overtaken, and EC2 that lets go of an address, need a moment.
    else await pause(options.interval);
  }
}

interface Attended extends MoveOptions {
  readonly progress: Progress;
}

/** An operation to wait for. */
interface Begun {
  readonly token: string;
  /** Where it leads. Absent when it rolls back. */
  readonly place?: Place | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** A continued rollback: when it fails again, a person has to look. @default false */
  readonly isSkip?: boolean;
}

/** @returns what now runs; `undefined` when there is nothing to wait for but time */
async function begin(
  apis: OriginApis,
  { stack, steps: [step] }: Plan,
  deleted: Set<string>,
  { progress, deadline, confirm }: Attended,
): Promise<Begun | undefined> {
  switch (step?.kind) {
    case 'wait':
      progress.report(describeStep(step, stack));
      return { ...step, until: Math.min(step.until ?? deadline, deadline) };
    case 'update': {
      progress.report(`Updating stack ${stack.name} to ${placeInWords(step.place)}.`);
      const token = await updatePlace(apis, stack, step.place);
      return token === undefined ? undefined : { token, place: step.place, until: deadline };
    }
    case 'cancel':
      await confirm(`Cancel the update to ${placeInWords(step.place)}?`);
      progress.report(describeStep(step, stack));
      await cancelUpdate(apis, stack);
      return undefined;
    case 'skip': {
      await confirm(`Leave ${step.resources.join(', ')} as they are, and continue the rollback?`);
      progress.report(describeStep(step, stack));
      const token = await continueRollback(apis, stack, step.resources);
      return token === undefined ? undefined : { token, until: deadline, isSkip: true };
    }
    case 'free':
      if (!step.orphan || deleted.has(step.orphan)) {
        progress.still(`${holderInWords(step.holder)}. Waiting until EC2 frees the address.`);
        return undefined;
      }
      progress.report(describeStep(step, stack));
      await confirm(`Delete gateway ${step.orphan}?`);
      await deleteGateway(apis, step.orphan);
      deleted.add(step.orphan);
      return undefined;
  }
  return undefined;
}

/**
 * @returns the update that is done; `undefined` when the way has to be planned again
 * @throws CommandFailed when the update failed
 */
async function follow(
  apis: OriginApis,
  stack: OriginStack,
  { token, place, until, isSkip }: Begun,
  { interval, progress }: Attended,
): Promise<DoneUpdate | undefined> {
  let isNamed = false;
  const end = await waitForUpdate(apis, stack, token, {
    interval,
    until,
    progress,
    endsWithCleanup: place !== undefined && place.zone !== noZone,
    whileSilent: async (elapsed) => {
      const held = await tellHolder(apis, addressAt(stack, place));
      if (elapsed < patience || isNamed || !place || place.zone === noZone) return held;
      isNamed = true;
      return `${held} No gateway takes that long where EC2 works: run this command with another --zone to give the update up, or: ${cancelCommand(stack)}.`;
    },
  });
  if (!end) return undefined;
  if (place && /^UPDATE_COMPLETE/.test(end.status)) {
    progress.report(`${capitalized(placeInWords(place))}: done after ${end.duration} s.`);
    for (const failed of end.failures) progress.report(`  left behind: ${failed}`);
    return { ...place, seconds: end.duration };
  }
  if (!place && (end.status === 'UPDATE_ROLLBACK_COMPLETE' || !isSkip)) {
    progress.report(`The rollback has ended: the stack is ${end.status}.`);
    for (const failed of end.failures) progress.report(`  ${failed}`);
    return undefined;
  }
  throw await updateFailed(apis, place, end);
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
