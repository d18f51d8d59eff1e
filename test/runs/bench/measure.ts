import type { Cleanup } from '../../../local/cleanup';
import { formatNumber, type Harness, median, percentile } from '../long-run';

export interface PartOptions extends Harness {
  /** The fraction of the usual number of samples, from 0 to 1. */
  readonly effort: number;
  /** Run at the end of the part. */
  readonly cleanup: Cleanup;
  /** A temporary folder. */
  readonly directory: string;
}

/** A median against another of the same run. */
export interface Figure {
  readonly what: string;
  readonly against: string;
  /** @default ms */
  readonly unit?: string;
  readonly value: readonly number[];
  readonly baseline: readonly number[];
  /** Bounds of the ratio. @default - none */
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** A variant that is timed; one that returns a number is a sample by itself. */
type Variant = () => Promise<number | undefined>;

/**
 * Samples the variants in turn, so that other load on the machine affects all equally.
 *
 * @param rounds usual number, scaled by the effort; one more goes before, to warm up, unless only one is left
 * @returns milliseconds, or what the variants returned
 */
export async function interleave<Name extends string>(
  variants: Readonly<Record<Name, Variant>>,
  rounds: number,
  { effort, signal }: Pick<PartOptions, 'effort' | 'signal'>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(variants) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  // An ES module, which TypeScript does not let a CommonJS one import otherwise.
  const { Bench } = await import('tinybench');
  const bench = new Bench({ iterations: 1, time: 0, warmup: false, throws: true });
  let own: number | undefined;
  for (const name of names)
    bench.add(name, async () => {
      own = await variants[name]();
    });
  const count = Math.max(1, Math.round(rounds * effort));
  for (let round = count === 1 ? 1 : 0; round <= count; round += 1)
    for (const task of bench.tasks) {
      signal.throwIfAborted();
      task.reset();
      const { result } = await task.run();
      if (round > 0 && 'latency' in result) samples[task.name as Name].push(own ?? result.latency.mean);
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
  const hasGoal = atMost !== undefined || atLeast !== undefined;
  return {
    ...{ part, what },
    median: `${formatNumber(median(value))} ${unit}`,
    p99: value.length < 100 ? '' : `${formatNumber(percentile(value, 0.99))} ${unit}`,
    ...{ against, is: `${formatNumber(median(baseline))} ${unit}`, n: value.length },
    ratio: ratioOf(figure).toFixed(2),
    goal: hasGoal ? `${bound}, ${isMissed(figure) ? '**missed**' : 'met'}` : '',
  };
}
