import { type Harness, median } from '../long-run';

export interface PartOptions extends Harness {
  /** The fraction of the usual number of samples, from 0 to 1. */
  readonly effort: number;
  /** A temporary folder. */
  readonly directory: string;
}

/** A median against another of the same run, or against a limit. */
export interface Figure {
  readonly what: string;
  readonly against: string;
  readonly unit: 'ms' | '/s';
  readonly value: readonly number[];
  readonly baseline: readonly number[];
  /** The bound of the ratio: an upper one for times, a lower one for rates. */
  readonly goal: number;
}

/**
 * Samples the variants in turn, so that other load on the machine affects all equally.
 *
 * @param variants each is timed, unless it returns the sample
 * @param rounds usual number, scaled by the effort; one more goes before, to warm up, unless only one is left
 */
export async function interleave<Name extends string>(
  variants: Readonly<Record<Name, () => Promise<unknown>>>,
  rounds: number,
  { effort, signal }: Pick<PartOptions, 'effort' | 'signal'>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(variants) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  const count = Math.max(1, Math.round(rounds * effort));
  for (let round = count === 1 ? 1 : 0; round <= count; round += 1)
    for (const name of names) {
      signal.throwIfAborted();
      const began = performance.now();
      const own = await variants[name]();
      if (round > 0) samples[name].push(typeof own === 'number' ? own : performance.now() - began);
    }
  return samples;
}

/** The figure as a row of a table, and whether it misses its goal. */
export function judge(part: string, { what, against, unit, value, baseline, goal }: Figure) {
  const ratio = median(value) / median(baseline);
  const isMissed = unit === 'ms' ? ratio > goal : ratio < goal;
  const format = (samples: readonly number[]) => `${Number(median(samples).toPrecision(3))} ${unit}`;
  const row = {
    ...{ part, what, median: format(value), against, is: format(baseline), n: value.length },
    ratio: ratio.toFixed(2),
    goal: `${unit === 'ms' ? 'at most' : 'at least'} ${goal}, ${isMissed ? '**missed**' : 'met'}`,
  };
  return { row, isMissed };
}
