import type { Harness } from '../long-run';

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
  readonly unit: 'ms' | '/s' | 'MiB';
  readonly value: readonly number[];
  readonly baseline: readonly number[];
  /** The bound of the ratio: a lower one for rates, an upper one for all else. */
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
  { effort, signal }: PartOptions,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(variants) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  const count = Math.round(rounds * effort) || 1;
  for (let round = count === 1 ? 1 : 0; round <= count; round += 1)
    for (const name of names) {
      signal.throwIfAborted();
      const began = performance.now();
      const own = await variants[name]();
      if (round > 0) samples[name].push(typeof own === 'number' ? own : performance.now() - began);
    }
  return samples;
}

/** The figure as a row of a table, with whether it misses its goal: fewer samples than usual tell nothing. */
export function judge(part: string, figure: Figure, effort: number): string[] {
  const { what, against, unit, value, baseline, goal } = figure;
  const ratio = median(value) / median(baseline);
  const [bound, isMet] = unit === '/s' ? ['at least', ratio >= goal] : ['at most', ratio <= goal];
  const verdict = effort < 1 ? 'not measured' : isMet ? 'met' : missed;
  const format = (samples: readonly number[]) => `${Number(median(samples).toPrecision(3))} ${unit}`;
  const judged = `${bound} ${goal}, ${verdict}`;
  const shown = [what, format(value), against, format(baseline)];
  return [part, ...shown, String(value.length), ratio.toFixed(2), judged];
}

/** What a row says of a goal that the figure misses. */
export const missed = '**missed**';

/** The lower one for an even number of samples. */
function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
}
