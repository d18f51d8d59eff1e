import { CommandFailed } from '../failure';
import type { StackResource } from '../stack-resources';
import { type Holder, holderInWords, isOfStack } from './address-holder';
import type { StackFacts } from './move-plan';

/** Get an address off what holds it, before a new gateway can have it. */
export interface FreeStep {
  readonly kind: 'free';
  readonly holder: Holder;
  /** The gateway to delete, which CloudFormation has forgotten. Absent when there is only waiting. */
  readonly orphan?: string;
}

/** Milliseconds. EC2 may name a holder for some moments after it let go. */
const settling = 2 * 60_000;

/**
 * Deletes nothing but a gateway that CloudFormation made for this very stack, and no longer lists.
 *
 * @throws CommandFailed when something else holds the address
 */
export function planFreeing(
  holder: Holder,
  { stack, operation, now }: Pick<StackFacts, 'stack' | 'operation' | 'now'>,
  resources: readonly StackResource[],
): FreeStep {
  const { gateway, id } = holder;
  if (gateway && isOfStack(gateway, stack)) {
    // One that the stack lists was made since the stack was read: the next look finds the update that made it.
    const isListed = resources.some(({ physicalId }) => physicalId === gateway.id);
    const isOnItsWay = ['pending', 'deleting', 'deleted'].includes(gateway.state);
    return { kind: 'free', holder, ...(!isListed && !isOnItsWay && { orphan: gateway.id }) };
  }
  if (!gateway && operation && now - operation.time.getTime() < settling) {
    return { kind: 'free', holder };
  }
  throw new CommandFailed(
    `${holderInWords(holder)}. No gateway can be made with it.`,
    gateway
      ? `Gateway ${gateway.id} is not one that stack ${stack.name} has left behind, so this command does not touch it. Find whose it is, and have it deleted. Then run this command again.`
      : `Find what ${id} belongs to, and take the address from it: this command touches gateways of its stack alone. Then run it again.`,
  );
}
