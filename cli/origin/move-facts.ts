import { AwsCallFailed } from '../aws';
import { type FreeStep, planFreeing } from './address-freeing';
import { type Holder, readHolder } from './address-holder';
import type { OriginApis } from './apis';
import { planMove, type Step } from './move-plan';
import { noZone, type Place } from './place';
import { failuresOfRollback } from './rollback-failure';
import { addressAt, describeStack, listResources, type OriginStack } from './stack';
import { eventsOf, latestOperation } from './stack-events';

export interface Plan {
  readonly stack: OriginStack;
  readonly steps: readonly (Step | FreeStep)[];
}

/**
 * What is left to do now. Reads only: CloudFormation, and EC2 when the next step needs an address that has to be free.
 *
 * @throws CommandFailed when nothing can be done, with the remedy
 */
export async function readPlan(apis: OriginApis, destination: Place): Promise<Plan> {
  const stack = await describeStack(apis);
  const operation = await latestOperation(apis, stack);
  const failed = stack.status === 'UPDATE_ROLLBACK_FAILED' && operation;
  const events = failed ? await eventsOf(apis, stack, operation.token) : [];
  const facts = { stack, operation, failures: failuresOfRollback(events), now: Date.now() };
  const steps = planMove(facts, destination);
  const [next] = steps;
  if (next?.kind !== 'update' || next.place.zone === noZone) return { stack, steps };
  const holder = await holderOf(apis, stack, next.place);
  if (!holder) return { stack, steps };
  return { stack, steps: [planFreeing(holder, facts, await listResources(apis)), ...steps] };
}

/** The reserve need not wait for EC2 to answer: no gateway has it, or CloudFormation finds out and rolls back. */
async function holderOf(apis: OriginApis, stack: OriginStack, place: Place): Promise<Holder | undefined> {
  try {
    return await readHolder(apis, addressAt(stack, place));
  } catch (error) {
    if (place.reserve && error instanceof AwsCallFailed) return undefined;
    throw error;
  }
}
