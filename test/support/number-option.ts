import { InvalidArgumentError } from 'commander';

/** Reads an option that is a number, the least that it may be included. */
export function numberFrom(least: number): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!(value >= least)) throw new InvalidArgumentError(`It must be a number from ${least} up.`);
    return value;
  };
}
