/** Takes one sample, in the unit of its figure; what has to be made ready for it is not part of what is measured. */
export type TakeSample<Sample = number> = () => Promise<Sample>;

export interface Rounds {
  /** Rounds that count. In each, every variant is sampled once. */
  readonly samples: number;
  /** Rounds before those, which do not. */
  readonly warmUp: number;
  /** Ends the rounds, with an error, after the sample that is being taken. */
  readonly signal: AbortSignal;
  /** For variants that build on each other: every round begins with the first. @default false */
  readonly keepOrder?: boolean;
}

/**
 * Samples variants in turn, each round beginning with another one, so that other work of the machine falls on
 * all of them alike.
 */
export async function interleave<Name extends string, Sample = number>(
  variants: Readonly<Record<Name, TakeSample<Sample>>>,
  { samples, warmUp, signal, keepOrder = false }: Rounds,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(variants) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>;
  for (let round = -warmUp; round < samples; round += 1) {
    const first = keepOrder ? 0 : Math.abs(round) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      signal.throwIfAborted();
      const sample = await variants[name]();
      if (round >= 0) taken[name].push(sample);
    }
  }
  return taken;
}

/** Milliseconds until the work has ended. */
export async function time(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
