import type { FreeStep } from './address-freeing';
import { holderInWords } from './address-holder';
import type { Step } from './move-plan';
import { noZone, placeInWords } from './place';
import { addressAt, type OriginStack } from './stack';

/** The plan in words, one line a step. */
export const describeSteps = (steps: readonly (Step | FreeStep)[], stack: OriginStack): string[] =>
  steps.map((step, index) => `  ${index + 1}. ${describeStep(step, stack)}`);

export function describeStep(step: Step | FreeStep, stack: OriginStack): string {
  switch (step.kind) {
    case 'wait':
      return step.place
        ? `Wait for the update to ${placeInWords(step.place)} that an earlier run of this command began${step.until ? `, and cancel it when it has not ended at ${new Date(step.until).toISOString()}` : ''}.`
        : 'Wait for the rollback that runs, and go on from where it ends.';
    case 'cancel':
      return `Cancel the update to ${placeInWords(step.place)}, which runs since ${step.since.toISOString()}, and go on from where the rollback ends.`;
    case 'skip':
      return `Continue the rollback that failed without ${step.resources.join(', ')}: the next update makes them as they should be.`;
    case 'free':
      return step.orphan
        ? `Delete gateway ${step.orphan}, which CloudFormation has left behind, and wait until it is gone: ${holderInWords(step.holder)}.`
        : `Wait until EC2 frees the address: ${holderInWords(step.holder)}.`;
    case 'update':
      return describeUpdate(step.place, stack);
  }
}

function describeUpdate(place: Extract<Step, { kind: 'update' }>['place'], stack: OriginStack): string {
  if (place.zone === noZone)
    return `Update the stack to zone ${noZone}: the consumers are switched off, then routes and gateway go. Webhooks wait.`;
  const gateway = `a gateway with ${addressAt(stack, place)}, routes to it`;
  return place.reserve !== stack.reserve && stack.zone !== noZone
    ? `Update the stack to ${placeInWords(place)}: ${gateway}. Webhooks go out from there before CloudFormation deletes the old gateway.`
    : `Update the stack to ${placeInWords(place)}: ${gateway}, consumers on. Webhooks go out again.`;
}
