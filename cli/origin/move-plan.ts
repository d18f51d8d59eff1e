import { CommandFailed } from '../failure';
import { type Purpose, purposeOf } from './operation-token';
import { isSamePlace, noZone, type Place } from './place';
import { othersOf, skippable } from './rollback-failure';
import type { OriginStack } from './stack';
import type { UpdateEvent } from './stack-events';
import { isBusy, isReady, remedyFor } from './stack-status';

/** One thing to do on the way to a place. */
export type Step =
  /** Wait for an operation that an earlier step, or an earlier run of the command, began. */
  | {
      readonly kind: 'wait';
      readonly token: string;
      /** Where it leads. Absent when it rolls back. */
      readonly place?: Place;
      /** Milliseconds since 1970: when to wait no longer but to plan again, because it leads elsewhere. */
      readonly until?: number;
    }
  | { readonly kind: 'update'; readonly place: Place }
  /** Cancel an update that leads elsewhere and does not end. */
  | { readonly kind: 'cancel'; readonly place: Place; readonly since: Date }
  /** Continue a rollback that failed, without these resources. */
  | { readonly kind: 'skip'; readonly resources: readonly string[] };

/** What CloudFormation says. */
export interface StackFacts {
  readonly stack: OriginStack;
  /** The latest event of the stack itself: what runs or ran last. */
  readonly operation: UpdateEvent | undefined;
  /** What a rollback could not undo. */
  readonly failures: readonly UpdateEvent[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Milliseconds. A gateway that EC2 can make is there within minutes. */
export const patience = 15 * 60_000;

/**
 * What is left to do, from what the stack says of itself: nothing is remembered between runs, so a move that was
 * interrupted goes on wherever it stood.
 *
 * @throws CommandFailed when the stack cannot be updated now, with the remedy.
 */
export function planMove(facts: StackFacts, destination: Place): readonly Step[] {
  const { stack, operation } = facts;
  const purpose = purposeOf(operation?.token);
  if (isReady(stack.status)) return updatesBetween(stack, destination, purpose);
  if (stack.status === 'UPDATE_ROLLBACK_FAILED')
    return [planSkip(facts, purpose), ...updatesBetween(stack, destination, { kind: 'skip' })];
  if (!isBusy(stack.status))
    throw new CommandFailed(`Stack ${stack.name} is ${stack.status}.`, remedyFor(stack));
  if (!purpose || !operation?.token) throw otherOperation(facts);
  const wait = { kind: 'wait', token: operation.token } as const;
  if (purpose.kind !== 'update' || stack.status.includes('ROLLBACK'))
    return [wait, { kind: 'update', place: destination }];
  const { place } = purpose;
  // The old gateway is all that is left to delete: webhooks go out already.
  if (stack.status === 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS' && isSamePlace(place, destination)) return [];
  const later = updatesBetween(place, destination);
  if (later.length === 0 || place.zone === noZone || stack.status !== 'UPDATE_IN_PROGRESS')
    return [{ ...wait, place }, ...later];
  const until = operation.time.getTime() + patience;
  return facts.now < until
    ? [{ ...wait, place, until }, ...later]
    : [
        { kind: 'cancel', place, since: operation.time },
        { kind: 'update', place: destination },
      ];
}

/**
 * An Elastic IP cannot be on two gateways, and CloudFormation makes the new one before it deletes the old one: so the
 * way from zone to zone with the same address leads through `none`. With the other address it is one update.
 */
function updatesBetween(from: Place, to: Place, last?: Purpose): readonly Step[] {
  const detached: Place = { zone: noZone, reserve: from.reserve };
  const places = isSamePlace(from, to)
    ? // After a skip, EC2 and Lambda may have something else than the stack: all of it is made anew.
      last?.kind === 'skip' && to.zone !== noZone
      ? [detached, to]
      : []
    : from.zone === noZone || from.reserve !== to.reserve
      ? [to]
      : [detached, to];
  return places.map((place) => ({ kind: 'update', place }));
}

/** Only of an operation of this command, which changes nothing but the origin; of others more may be at stake. */
function planSkip({ stack, failures }: StackFacts, purpose: Purpose | undefined): Step {
  const resources = skippable(failures);
  const others = othersOf(failures);
  if (purpose && others.length === 0 && resources.length > 0) return { kind: 'skip', resources };
  const causes = failures.map(
    ({ logicalId, reason }) => `\n  ${logicalId}: ${reason ?? 'no reason is given'}`,
  );
  throw new CommandFailed(
    `Stack ${stack.name} is UPDATE_ROLLBACK_FAILED${purpose ? '' : ', after an operation that is not of this command'}.${causes.join('')}`,
    remedyFor(stack),
  );
}

function otherOperation({ stack, operation }: StackFacts): CommandFailed {
  return new CommandFailed(
    `Another update of stack ${stack.name} runs: ${stack.status} since ${operation?.time.toISOString() ?? 'just now'}.`,
    stack.zone === noZone
      ? 'Run this command again when it has ended: no gateway holds the address, and webhooks wait until then.'
      : 'Run this command again when it has ended.',
  );
}
