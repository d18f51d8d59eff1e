import { CommandFailed } from '../failure';
import { noZone, type OriginStack } from './stack';
import type { UpdateEvent } from './stack-events';
import { isBusy, isReady, remedyFor } from './stack-status';
import { zoneOfToken } from './zone-update';

/** One thing to do on the way to a zone. */
export type Step =
  /** Wait for an update that an earlier run of the command began. */
  | { readonly kind: 'wait'; readonly zone: string; readonly token: string }
  /** Update the stack's zone. */
  | { readonly kind: 'update'; readonly zone: string };

/**
 * What is left to do, from what the stack says of itself: nothing is remembered between runs, so a move that was
 * interrupted goes on wherever it stood.
 *
 * @param operation what runs on the stack or ran last
 * @throws CommandFailed when the stack cannot be updated now, with the remedy.
 */
export function planMove(
  stack: OriginStack,
  operation: UpdateEvent | undefined,
  destination: string,
): readonly Step[] {
  if (isReady(stack.status)) return updatesBetween(stack.zone, destination);
  if (!isBusy(stack.status))
    throw new CommandFailed(`Stack ${stack.name} is ${stack.status}.`, remedyFor(stack));
  const zone = zoneOfToken(operation?.token);
  if (zone === undefined || operation?.token === undefined) {
    throw new CommandFailed(
      `Another update of stack ${stack.name} runs: ${stack.status} since ${operation?.time.toISOString() ?? 'just now'}.`,
      stack.zone === noZone
        ? 'Run this command again when it has ended: no gateway holds the address, and webhooks wait until then.'
        : 'Run this command again when it has ended.',
    );
  }
  // If that update fails, the stack rolls back, and the next plan starts from there.
  return [{ kind: 'wait', zone, token: operation.token }, ...updatesBetween(zone, destination)];
}

/**
 * An Elastic IP cannot be on two gateways, and CloudFormation makes the new one before it deletes the old one: so the
 * way from zone to zone leads through `none`.
 */
function updatesBetween(from: string, to: string): readonly Step[] {
  if (from === to) return [];
  return (from === noZone ? [to] : [noZone, to]).map((zone) => ({ kind: 'update', zone }));
}

/** The plan in words, one line a step. */
export const describeSteps = (steps: readonly Step[], address: string): string[] =>
  steps.map((step, index) => `  ${index + 1}. ${describe(step, address)}`);

function describe({ kind, zone }: Step, address: string): string {
  if (kind === 'wait')
    return `Wait for the update to zone ${zone} that an earlier run of this command began.`;
  return zone === noZone
    ? `Update the stack to zone ${noZone}: the consumers are switched off, then routes and gateway go. Webhooks wait.`
    : `Update the stack to zone ${zone}: a gateway with ${address}, routes to it, consumers on. Webhooks go out again.`;
}
