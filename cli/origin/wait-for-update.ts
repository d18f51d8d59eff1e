import { setTimeout as pause } from 'node:timers/promises';
import type { OriginApis } from './apis';
import { clock, type Progress } from './progress';
import type { OriginStack } from './stack';
import { eventsOf, latestOperation, type UpdateEvent } from './stack-events';
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
  /** Milliseconds since 1970: when to wait no longer. */
  readonly until: number;
  /** Gets a line for each step of a resource, and once a minute when there is none. */
  readonly progress: Progress;
  /** Whether the update has done what it is for once nothing but the old is left to delete. */
  readonly endsWithCleanup: boolean;
  /**
   * What EC2 says meanwhile, for a minute without a step.
   *
   * @param elapsed milliseconds since the update began
   */
  whileSilent(elapsed: number): Promise<string>;
}

/**
 * Waits until the update with this token has come to its end, and reports each step meanwhile.
 *
 * @returns `undefined` when it is time to wait no longer, or another operation has begun
 */
export async function waitForUpdate(
  apis: OriginApis,
  stack: OriginStack,
  token: string,
  { interval, until, progress, endsWithCleanup, whileSilent }: WaitOptions,
): Promise<UpdateEnd | undefined> {
  const told = new Set<string>();
  for (; Date.now() < until; await pause(interval)) {
    const events = await eventsOf(apis, stack, token);
    for (const event of events) {
      if (!told.has(event.id) && !event.ofStack) progress.report(describe(event, events));
      told.add(event.id);
    }
    const last = events.findLast(({ ofStack }) => ofStack);
    if (!last) continue;
    if (isFinal(last.status) || (endsWithCleanup && last.status === 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'))
      return { status: last.status, duration: secondsBetween(events[0], last), failures: failuresOf(events) };
    if (!progress.isSilent()) continue;
    // Someone's cancellation goes on under another token.
    if ((await latestOperation(apis, stack))?.token !== token) return undefined;
    const elapsed = Date.now() - Number(events[0]?.time);
    progress.report(`  ${clock(elapsed)}  ${stillRuns(last, events)} ${await whileSilent(elapsed)}`);
  }
  return undefined;
}

/** What has begun and not ended. */
function stillRuns({ status }: UpdateEvent, events: readonly UpdateEvent[]): string {
  const latest = new Map(events.filter(({ ofStack }) => !ofStack).map((event) => [event.logicalId, event]));
  const running = [...latest.values()]
    .filter((event) => !isFinal(event.status))
    .map((event) => `${event.logicalId} ${event.status} since ${clock(elapsedBetween(events[0], event))}`);
  return `still ${status}${running.length > 0 ? `: ${running.join(', ')}` : ''}.`;
}

/** When, what, and for a step that has ended how long it took. */
function describe(event: UpdateEvent, events: readonly UpdateEvent[]): string {
  const began = events.findLast(
    ({ logicalId, status, time }) =>
      logicalId === event.logicalId && status.endsWith('_IN_PROGRESS') && time <= event.time,
  );
  const took = isFinal(event.status) && began ? ` after ${secondsBetween(began, event)} s` : '';
  const reason = event.status.endsWith('_FAILED') && event.reason ? `: ${event.reason}` : '';
  return `  ${clock(elapsedBetween(events[0], event))}  ${event.logicalId} ${event.status}${took}${reason}`;
}

/**
 * CloudFormation cancels what runs beside a failure; that says nothing of the cause. It tries a deletion three times:
 * the last counts.
 */
const failuresOf = (events: readonly UpdateEvent[]): string[] =>
  events
    .filter(({ ofStack, status }) => !ofStack && status.endsWith('_FAILED'))
    .filter(({ reason }) => !/^Resource \w+ cancelled$/.test(reason ?? ''))
    .filter(
      (event) =>
        event.status !== 'DELETE_FAILED' ||
        event === events.findLast(({ logicalId }) => logicalId === event.logicalId),
    )
    .map(({ logicalId, reason }) => `${logicalId}: ${reason ?? 'no reason is given'}`);

const elapsedBetween = (from: UpdateEvent | undefined, to: UpdateEvent): number =>
  to.time.getTime() - (from ?? to).time.getTime();

const secondsBetween = (from: UpdateEvent | undefined, to: UpdateEvent): number =>
  Math.round(elapsedBetween(from, to) / 1000);
