import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailed } from '../failure';
import type { OriginApis } from './apis';
import { readAddress } from './gateway';
import { planMove, type Step } from './move-plan';
import { faultsOf, type OriginState, readOriginState } from './origin-state';
import { describeStack, noZone, type OriginStack } from './stack';
import { latestOperation } from './stack-events';
import { type UpdateEnd, type WaitOptions, waitForUpdate } from './wait-for-update';
import { updateZone } from './zone-update';

/** An update that was done, or that an earlier run had begun. */
export interface DoneUpdate {
  readonly zone: string;
  readonly seconds: number;
}

/** What is left to do now. Reads only. */
export async function readPlan(
  apis: OriginApis,
  zone: string,
): Promise<{ readonly stack: OriginStack; readonly steps: readonly Step[] }> {
  const stack = await describeStack(apis);
  return { stack, steps: planMove(stack, await latestOperation(apis, stack), zone) };
}

/** Does one step after the other, and reads the stack again before each: other people and CI update it too. */
export async function move(
  apis: OriginApis,
  zone: string,
  options: WaitOptions,
): Promise<readonly DoneUpdate[]> {
  const done: DoneUpdate[] = [];
  let obstacle: CommandFailed | undefined;
  for (let looks = 0; looks < maxLooks; looks++) {
    if (obstacle) await pause(options.interval);
    const { stack, steps } = await readPlan(apis, zone);
    const [step] = steps;
    if (!step) return done;
    const begun = await begin(apis, stack, step, options);
    if (begun instanceof CommandFailed) {
      obstacle = begun;
      continue;
    }
    obstacle = undefined;
    const end = await waitForUpdate(apis, stack, begun, options);
    if (end.status !== 'UPDATE_COMPLETE') throw await failure(apis, step.zone, end);
    options.report(`Zone ${step.zone}: done after ${end.duration} s.`);
    for (const failed of end.failures) options.report(`  left behind: ${failed}`);
    done.push({ zone: step.zone, seconds: end.duration });
  }
  throw obstacle ?? otherUpdates(apis);
}

/** EC2 lets go of an address, and Lambda turns a consumer on, some moments after they said that they would. */
const maxLooks = 60;

/** @returns the token of the update that now runs, or why it cannot begin yet: in a moment it may */
async function begin(
  apis: OriginApis,
  stack: OriginStack,
  step: Step,
  options: WaitOptions,
): Promise<string | CommandFailed> {
  if (step.kind === 'wait') {
    options.report(`Waiting for the update to zone ${step.zone} that an earlier run began.`);
    return step.token;
  }
  const holder = step.zone === noZone ? undefined : await holderOfAddress(apis, stack);
  if (holder) return holder;
  options.report(`Updating stack ${stack.name} to zone ${step.zone}.`);
  return (await updateZone(apis, stack, step.zone)) ?? otherUpdates(apis);
}

async function holderOfAddress(apis: OriginApis, stack: OriginStack): Promise<CommandFailed | undefined> {
  const { address, allocationId, heldBy } = await readAddress(apis, stack.address);
  if (heldBy === undefined) return undefined;
  return new CommandFailed(
    `${address} (${allocationId}) is still held by ${heldBy}, so no gateway can be made with it.`,
    `Find what ${heldBy} belongs to, such as a NAT gateway that CloudFormation could not delete, and delete that. Then run this command again: webhooks wait until then.`,
  );
}

const otherUpdates = ({ target }: OriginApis) =>
  new CommandFailed(
    `Other updates of stack ${target.environment.stackId} keep getting in between.`,
    'Stop other updates of the stack, and run this command again.',
  );

/** A failed update leaves the stack where it was. Where that is decides whether webhooks go out. */
async function failure(apis: OriginApis, zone: string, end: UpdateEnd): Promise<CommandFailed> {
  const stack = await describeStack(apis);
  const causes = end.failures.map((cause) => `\n  ${cause}`).join('');
  const message = `The update to zone ${zone} failed; stack ${stack.name} is ${end.status}.${causes}`;
  if (end.status !== 'UPDATE_ROLLBACK_COMPLETE') {
    return new CommandFailed(message, 'Run this command again: it says what the stack needs.');
  }
  return new CommandFailed(
    message,
    stack.zone === noZone
      ? 'No gateway holds the address now, and webhooks wait. Remove the cause and run this command again, or move to another zone, the former one included.'
      : `Everything is as it was, in zone ${stack.zone}. Remove the cause and run this command again.`,
  );
}

/**
 * Asks EC2 and Lambda, not CloudFormation, whether all is as promised: the gateway in the zone, the same address on
 * it, the consumers on.
 *
 * @throws CommandFailed with what is not.
 */
export async function verify(
  apis: OriginApis,
  stack: OriginStack,
  zone: string,
  { interval }: WaitOptions,
): Promise<OriginState> {
  for (let looks = 1; ; looks++) {
    const { address } = await describeStack(apis);
    const state = await readOriginState(apis, stack);
    const faults = faultsOf(state, zone);
    if (address !== stack.address) faults.push(`its address was ${stack.address} and is ${address} now`);
    if (faults.length === 0) return state;
    const settling = state.consumers.some((consumer) => consumer.state === 'Enabling');
    if (!settling || looks === maxLooks) {
      throw new CommandFailed(
        `Stack ${stack.name} is in zone ${zone}, but ${faults.join('; ')}.`,
        'Something was changed past CloudFormation: see "Moving the webhook origin" in docs/runbook.md.',
      );
    }
    await pause(interval);
  }
}
