import { InvalidArgumentError } from 'commander';

/** Reads a number that is at least `least`. */
export function numberFrom(least: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!(value >= least)) throw new InvalidArgumentError(`It must be a number from ${least} up.`);
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

/** Collects the names of an option that may be given again. */
export const oneMoreOf =
  (known: readonly string[]) =>
  (name: string, earlier: readonly string[] = []): readonly string[] => {
    if (!known.includes(name)) throw new InvalidArgumentError(`Choose of: ${known.join(', ')}.`);
    return [...earlier, name];
  };

export const newSeed = () => Date.now() % 2 ** 31;
