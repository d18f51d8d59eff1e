import type { Cleanup } from '../../../local/cleanup';
import { formatNumber, type Harness, median } from '../long-run';

export interface PartOptions extends Harness {
  /** The fraction of the usual number of samples, from 0 to 1. */
  readonly effort: number;
  /** Run at the end of the part. */
  readonly cleanup: Cleanup;
  /** A temporary folder. */
  readonly directory: string;
}

/** A median against another of the same run, or against a limit. */
export interface Figure {
  readonly what: string;
  readonly against: string;
  /** @default ms */
  readonly unit?: string;
  readonly value: readonly number[];
  readonly baseline: readonly number[];
  /** The goal: a bound of the ratio. */
  readonly atMost?: number;
  readonly atLeast?: number;
}

/**
 * Samples the variants in turn, so that other load on the machine affects all equally.
 *
 * @param variants each is timed, unless it returns the sample
 * @param rounds usual number, scaled by the effort; one more goes before, to warm up, unless only one is left
 */
export async function interleave<Name extends string>(
  variants: Readonly<Record<Name, () => Promise<number | undefined>>>,
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
      if (round > 0) samples[name].push(own ?? performance.now() - began);
    }
  return samples;
}

const ratioOf = ({ value, baseline }: Figure): number => median(value) / median(baseline);

export const isMissed = (figure: Figure): boolean =>
  ratioOf(figure) > (figure.atMost ?? Number.POSITIVE_INFINITY) || ratioOf(figure) < (figure.atLeast ?? 0);

/** The figure as a row of a table. */
export function formatFigure(part: string, figure: Figure) {
  const { what, against, unit = 'ms', value, baseline, atMost, atLeast } = figure;
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  return {
    ...{ part, what, median: `${formatNumber(median(value))} ${unit}` },
    ...{ against, is: `${formatNumber(median(baseline))} ${unit}`, n: value.length },
    ratio: ratioOf(figure).toFixed(2),
    goal: `${bound}, ${isMissed(figure) ? '**missed**' : 'met'}`,
  };
}
