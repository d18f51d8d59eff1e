import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailed } from '../failure';
import type { OriginApis } from './apis';
import type { OriginStack } from './stack';
import { eventsOf, type UpdateEvent } from './stack-events';
import { isFinal } from './stack-status';

/** How an update came to its end. */
export interface UpdateEnd {
  /** The stack's status. */
  readonly status: string;
  /** Seconds. */
  readonly duration: number;
  /** Of the resources that could not be changed: the update's cause of failure, or what was left behind. */
  readonly failures: readonly string[];
}

export interface WaitOptions {
  /** Milliseconds between questions. */
  readonly interval: number;
  /** Gets a line for each step of a resource. */
  report(line: string): void;
}

/** Milliseconds. A gateway is made or deleted within minutes; CloudFormation itself gives up on one after an hour or so. */
const deadline = 60 * 60_000;

/**
 * Waits until the update with this token has come to its end, and reports each step meanwhile.
 *
 * @throws CommandFailed when the update still runs after an hour.
 */
export async function waitForUpdate(
  apis: OriginApis,
  stack: OriginStack,
  token: string,
  { interval, report }: WaitOptions,
): Promise<UpdateEnd> {
  const told = new Set<string>();
  for (const giveUp = Date.now() + deadline; Date.now() < giveUp; await pause(interval)) {
    const events = await eventsOf(apis, stack, token);
    for (const event of events) {
      if (!told.has(event.id) && !event.ofStack) report(describe(event, events));
      told.add(event.id);
    }
    const last = events.findLast(({ ofStack }) => ofStack);
    if (last && isFinal(last.status)) {
      return { status: last.status, duration: secondsBetween(events[0], last), failures: failuresOf(events) };
    }
  }
  throw new CommandFailed(
    `The update of stack ${stack.name} still runs after an hour.`,
    'Look at its events in CloudFormation; run this command again to go on waiting.',
  );
}

/** When, what, and for a step that has ended how long it took. */
function describe(event: UpdateEvent, events: readonly UpdateEvent[]): string {
  const elapsed = secondsBetween(events[0], event);
  const clock = `${Math.floor(elapsed / 60)}:${String(elapsed % 60).padStart(2, '0')}`;
  const began = events.findLast(
    ({ logicalId, status, time }) =>
      logicalId === event.logicalId && status.endsWith('_IN_PROGRESS') && time <= event.time,
  );
  const took = isFinal(event.status) && began ? ` after ${secondsBetween(began, event)} s` : '';
  const reason = event.status.endsWith('_FAILED') && event.reason ? `: ${event.reason}` : '';
  return `  ${clock}  ${event.logicalId} ${event.status}${took}${reason}`;
}

/** CloudFormation cancels what runs beside a failure; that says nothing of the cause. */
const failuresOf = (events: readonly UpdateEvent[]): string[] =>
  events
    .filter(({ ofStack, status }) => !ofStack && status.endsWith('_FAILED'))
    .filter(({ reason }) => !/^Resource \w+ cancelled$/.test(reason ?? ''))
    .map(({ logicalId, reason }) => `${logicalId}: ${reason ?? 'no reason is given'}`);

const secondsBetween = (from: UpdateEvent | undefined, to: UpdateEvent): number =>
  Math.round((to.time.getTime() - (from ?? to).time.getTime()) / 1000);
