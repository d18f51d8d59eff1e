/** The value below which the given share of the samples lies (nearest rank). @throws Error when there are none */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('There are no samples.');
  return value;
}

/** The middle of the samples; of an even number, the mean of the two in the middle. @throws Error when there are none */
export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (lower === undefined || upper === undefined) throw new Error('There are no samples.');
  return (lower + upper) / 2;
}
