import type { Cleanup } from '../../../local/cleanup';
import type { Check } from '../harness/checks';
import type { Harness } from '../harness/command';
import { median, percentile } from '../harness/statistics';
import type { Rounds } from './interleave';

/** Names in which figures are asked for on the command line. */
export const partNames = ['delete', 'data-api', 'growth', 'cold', 'deliver', 'synth', 'start'] as const;
export type PartName = (typeof partNames)[number];

export type Unit = 'ms' | 'KiB' | 'MiB' | '/s' | 'in all';

/** A bound of a ratio. */
export interface Goal {
  readonly bound: 'at most' | 'at least';
  readonly ratio: number;
}

export const atMost = (ratio: number): Goal => ({ bound: 'at most', ratio });
export const atLeast = (ratio: number): Goal => ({ bound: 'at least', ratio });

interface Named {
  readonly what: string;
  readonly against: string;
  readonly unit: Unit;
  readonly goal?: Goal;
}

/** One measured thing against another of the same run. */
export interface Figure extends Named {
  /** Medians, and the 99th percentiles where there are enough samples to speak of them. */
  readonly value: number;
  readonly baseline: number;
  readonly p99?: number;
  readonly baselineP99?: number;
  readonly ratio: number;
  /** Samples of the value; the baseline has as many unless it is a fixed number. */
  readonly samples: number;
}

export interface PartResult {
  readonly figures: readonly Figure[];
  readonly checks?: readonly Check[];
}

/** How a part runs. */
export interface PartOptions extends Harness {
  /** The share of the usual number of samples to take, from 0 to 1: less is for trying things out. */
  readonly effort: number;
  /** Is run at the end of the part. */
  readonly cleanup: Cleanup;
  /** A temporary folder of the part. */
  readonly directory: string;
}

/** Fewer samples than these say nothing of their 99th percentile. */
const enoughForP99 = 100;

/** Compares two sets of samples by their medians. @param named `unit`: @default 'ms' */
export function compare(
  named: Omit<Named, 'unit'> & { readonly unit?: Unit },
  samples: readonly number[],
  baselines: readonly number[],
): Figure {
  const [value, baseline] = [median(samples), median(baselines)];
  const percentiles =
    Math.min(samples.length, baselines.length) < enoughForP99
      ? {}
      : { p99: percentile(samples, 0.99), baselineP99: percentile(baselines, 0.99) };
  return {
    unit: 'ms',
    ...named,
    ...{ value, baseline, ratio: value / baseline, samples: samples.length },
    ...percentiles,
  };
}

/** Whether a figure meets its goal; `undefined` without one. */
export function meetsGoal({ goal, ratio }: Pick<Figure, 'goal' | 'ratio'>): boolean | undefined {
  if (!goal) return undefined;
  return goal.bound === 'at most' ? ratio <= goal.ratio : ratio >= goal.ratio;
}

/** The usual number of samples, scaled by the effort. */
export const samplesFor = ({ effort }: Pick<PartOptions, 'effort'>, usual: number): number =>
  Math.max(1, Math.round(usual * effort));

/** Rounds for `interleave`; the number that counts is scaled by the effort. */
export const roundsOf = (options: PartOptions, usual: number, warmUp: number): Rounds => ({
  samples: samplesFor(options, usual),
  warmUp,
  signal: options.signal,
});
