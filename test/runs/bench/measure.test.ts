import { type Figure, judge } from './measure';

const figure = (value: number, unit: Figure['unit']): Figure => ({
  what: 'a deletion',
  against: 'an insert',
  unit,
  value: [value],
  baseline: [10],
  goal: 1.5,
});

it.each([
  [15, 'ms', 1, 'at most 1.5, met'],
  [16, 'ms', 1, 'at most 1.5, **missed**'],
  [15, '/s', 1, 'at least 1.5, met'],
  [14, '/s', 1, 'at least 1.5, **missed**'],
  [Number.NaN, 'ms', 1, 'at most 1.5, **missed**'],
  [16, 'ms', 0.5, 'at most 1.5, not measured'],
] as const)('%d %s with effort %d: %s', (value, unit, effort, goal) => {
  expect(judge('delete', figure(value, unit), effort).at(-1)).toBe(goal);
});
