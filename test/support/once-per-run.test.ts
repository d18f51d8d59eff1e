import { readdirSync } from 'node:fs';
import { oncePerRun, sharedFolder } from './once-per-run';

// The run's folder is shared: these names are unique to this test.
const name = (what: string) => `${__filename} ${what}`;

it('computes a value once, and returns the same text to every caller', () => {
  const make = jest.fn(() => 'täxt');
  expect([oncePerRun(name('a'), make), oncePerRun(name('a'), make)]).toEqual(['täxt', 'täxt']);
  expect(make).toHaveBeenCalledTimes(1);
});

it('distinguishes values by name', () => {
  expect([oncePerRun(name('b'), () => 'b'), oncePerRun(name('c'), () => 'c')]).toEqual(['b', 'c']);
});

it('does not cache a failure: the next call retries', () => {
  const fail = () => {
    throw new Error('no');
  };
  expect(() => oncePerRun(name('d'), fail)).toThrow('no');
  expect(oncePerRun(name('d'), () => 'd')).toBe('d');
  const files = readdirSync(sharedFolder() as string);
  expect(files.filter((file) => file.endsWith(`.${process.pid}`))).toEqual([]);
});
