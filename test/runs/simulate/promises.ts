import { longestDelay, retrySchedule } from '../../../domain/delivery';

/** When the next request of a delivery may begin, and from which times of the schedule on: all in milliseconds. */
export interface Window {
  readonly early: number;
  readonly latest: number;
  /** Its time in the schedule: exact unless faults or pauses make it unknown. */
  readonly lo: number;
  readonly hi: number;
}

export const last = retrySchedule.at(-1) ?? 0;

const indexOf = (time: number) => retrySchedule.findLastIndex((each) => each <= time);
const timeAfter = (time: number) => retrySchedule[indexOf(time) + 1] ?? last;

/** The first time of the schedule that is later, by what was asked for. */
const skipTo = (time: number, asked: number) =>
  retrySchedule.find((each) => each > time && each - time >= Math.min(asked, last - time)) ?? last;

/**
 * "Each delay may be up to a fifth shorter. Retry-After postpones the next attempt, by at most six hours. The attempt comes up
 * to a fifth of the delay after that moment, never before it." @returns undefined after the last attempt
 */
export function windowAfter(
  { lo, hi }: Pick<Window, 'lo' | 'hi'>,
  asked: number,
  now: number,
): Window | undefined {
  if (lo >= last) return undefined;
  const isSame = indexOf(lo) === indexOf(hi);
  const shortest = isSame ? 0.8 * (timeAfter(hi) - hi) : 0;
  const longest = isSame ? timeAfter(lo) - lo : timeAfter(hi) - (retrySchedule[indexOf(hi)] ?? 0);
  return {
    early: Math.floor(now + Math.max(shortest, Math.min(asked, last - hi))),
    latest: hi >= last ? Number.POSITIVE_INFINITY : now + Math.max(longest, 1.2 * asked),
    lo: skipTo(lo, asked),
    hi: skipTo(hi, asked),
  };
}

/** Milliseconds. */
export function readAsked(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  return Math.min(
    longestDelay,
    /^\d+$/.test(text) ? Number(text) * 1_000 : Math.max(0, Date.parse(text) - now),
  );
}
