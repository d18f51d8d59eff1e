import { InvalidArgumentError } from 'commander';

/**
 * Reads an option that is a number, the least that it may be included.
 *
 * @param why it may not be less @default - that goes without saying
 */
export function numberFrom(least: number, why?: string): (text: string) => number {
  const wanted = `It must be a number from ${least} up${why === undefined ? '' : `: ${why}`}.`;
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!(value >= least)) throw new InvalidArgumentError(wanted);
    return value;
  };
}

/** As `numberFrom`, of whole numbers. */
export function wholeNumberFrom(least: number): (text: string) => number {
  return (text) => {
    const value = numberFrom(least)(text);
    if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('It must be a whole number.');
    return value;
  };
}
