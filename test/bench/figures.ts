import { median, percentile } from '../support/statistics';

/** Names in which figures are asked for on the command line. */
export const partNames = ['delete', 'growth', 'cold', 'deliver', 'synth', 'start'] as const;
export type PartName = (typeof partNames)[number];

export type Unit = 'ms' | 's' | 'KiB' | 'MiB' | '/s';

/** What a ratio is to be, and how it is written: at most 1.5 times, at least 0.7 times. */
export interface Goal {
  readonly bound: 'at most' | 'at least';
  readonly ratio: number;
}

/** One measured thing against another of the same run. */
export interface Figure {
  readonly what: string;
  readonly against: string;
  readonly unit: Unit;
  /** Medians, and the 99th percentiles where there are enough samples to speak of them. */
  readonly value: number;
  readonly baseline: number;
  readonly p99?: number;
  readonly baselineP99?: number;
  readonly ratio: number;
  /** Samples of the value; the baseline has as many unless it is a fixed number. */
  readonly samples: number;
  readonly goal?: Goal;
}

/** Something that is so or not. */
export interface Check {
  readonly what: string;
  readonly holds: boolean;
  readonly detail: string;
}

export interface PartResult {
  readonly figures: readonly Figure[];
  readonly checks?: readonly Check[];
}

/** How a part runs. */
export interface PartOptions {
  /** The share of the usual number of samples to take, from 0 to 1: less is for trying things out. */
  readonly effort: number;
  /** Ends the part early, with an error; nothing is left of it then. */
  readonly signal: AbortSignal;
  /** Gets a line about how far it is. */
  readonly onProgress: (line: string) => void;
}

/** Fewer samples than these say nothing of their 99th percentile. */
const enoughForP99 = 100;

/** Compares two sets of samples by their medians. */
export function compare(
  named: { readonly what: string; readonly against: string; readonly unit: Unit; readonly goal?: Goal },
  samples: readonly number[],
  baseline: readonly number[],
): Figure {
  const [value, reference] = [median(samples), median(baseline)];
  const percentiles =
    Math.min(samples.length, baseline.length) < enoughForP99
      ? {}
      : { p99: percentile(samples, 0.99), baselineP99: percentile(baseline, 0.99) };
  return {
    ...named,
    value,
    baseline: reference,
    ratio: value / reference,
    samples: samples.length,
    ...percentiles,
  };
}

/** Whether a figure is as it should be; `undefined` where no goal is set. */
export function meetsGoal({ goal, ratio }: Pick<Figure, 'goal' | 'ratio'>): boolean | undefined {
  if (!goal) return undefined;
  return goal.bound === 'at most' ? ratio <= goal.ratio : ratio >= goal.ratio;
}

/** The usual number of samples, scaled by the effort; never fewer than three. */
export function samplesFor({ effort }: PartOptions, usual: number): number {
  return Math.max(3, Math.round(usual * effort));
}
