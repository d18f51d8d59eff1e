import { readdirSync } from 'node:fs';
import { oncePerRun, sharedFolder } from './once-per-run';

// The run's own folder holds what other files made: names of this test alone.
const name = (what: string) => `${__filename} ${what}`;

it('makes a thing once, and gives every caller the same text', () => {
  const make = jest.fn(() => 'täxt');
  expect([oncePerRun(name('a'), make), oncePerRun(name('a'), make)]).toEqual(['täxt', 'täxt']);
  expect(make).toHaveBeenCalledTimes(1);
});

it('tells things with different names apart', () => {
  expect([oncePerRun(name('b'), () => 'b'), oncePerRun(name('c'), () => 'c')]).toEqual(['b', 'c']);
});

it('keeps nothing of a failure: the next call makes it', () => {
  const fail = () => {
    throw new Error('no');
  };
  expect(() => oncePerRun(name('d'), fail)).toThrow('no');
  expect(oncePerRun(name('d'), () => 'd')).toBe('d');
  const files = readdirSync(sharedFolder() as string);
  expect(files.filter((file) => file.endsWith(`.${process.pid}`))).toEqual([]);
});
