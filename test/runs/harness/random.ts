import { createHash } from 'node:crypto';

/** Numbers from 0 to 1 that follow from a seed alone: mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A number from 0 to 1 that follows from a text alone. */
export const randomOf = (text: string): number =>
  createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;

export const oneOf = <T>(random: () => number, choices: readonly T[]): T =>
  choices[Math.floor(random() * choices.length)] as T;

export function shuffled<T>(random: () => number, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
