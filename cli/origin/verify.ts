import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailed } from '../failure';
import type { OriginApis } from './apis';
import { faultsOf, type OriginState, readOriginState } from './origin-state';
import { type Place, placeInWords } from './place';
import { describeStack, type OriginStack } from './stack';

/** Lambda turns a consumer on some moments after it said that it would. */
const maxLooks = 60;

/**
 * Asks EC2 and Lambda, not CloudFormation, whether all is as promised: the gateway in the zone, the same address on
 * it, the consumers on.
 *
 * @param before the stack as it was before the move
 * @param interval milliseconds
 * @throws CommandFailed with what is not.
 */
export async function verify(
  apis: OriginApis,
  before: OriginStack,
  place: Place,
  interval: number,
): Promise<{ readonly state: OriginState; readonly stack: OriginStack }> {
  for (let looks = 1; ; looks++) {
    const stack = await describeStack(apis);
    const state = await readOriginState(apis, { ...stack, ...place });
    const faults = faultsOf(state, place.zone);
    for (const which of ['address', 'reserveAddress'] as const) {
      if (stack[which] !== before[which])
        faults.push(`its address was ${before[which]} and is ${stack[which]} now`);
    }
    if (faults.length === 0) return { state, stack };
    const settling = state.consumers.some((consumer) => consumer.state === 'Enabling');
    if (!settling || looks === maxLooks) {
      throw new CommandFailed(
        `Stack ${stack.name} is in ${placeInWords(place)}, but ${faults.join('; ')}.`,
        'Something was changed past CloudFormation: see "Moving the webhook origin" in docs/runbook.md.',
      );
    }
    await pause(interval);
  }
}
