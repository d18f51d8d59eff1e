import { median, percentile } from '../harness/statistics';
import { compare, type Figure, meetsGoal, samplesFor } from './figures';
import { interleave } from './interleave';
import { formatResults, shortcomings } from './table';

const named = { what: 'ours', against: 'theirs', unit: 'ms' } as const;
const goal = { bound: 'at most', ratio: 1.5 } as const;

it('median: the middle of the samples, in any order', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([10, 2, 4, 8])).toBe(6);
  expect(() => median([])).toThrow('no samples');
});

it('percentile: the value that this share of the samples does not exceed', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(hundred, 0.99)).toBe(99);
  expect(percentile([7], 0.99)).toBe(7);
});

it('compares medians, and percentiles where there are enough samples', () => {
  expect(compare(named, [3, 1, 2], [1])).toEqual({ ...named, value: 2, baseline: 1, ratio: 2, samples: 3 });
  const many = Array.from({ length: 100 }, () => 4);
  expect(compare(named, many, many)).toMatchObject({ p99: 4, baselineP99: 4, ratio: 1 });
});

it.each([
  [1.5, 'at most', 1.5, true],
  [1.6, 'at most', 1.5, false],
  [0.7, 'at least', 0.7, true],
  [0.6, 'at least', 0.7, false],
] as const)('holds a ratio of %d against a goal of %s %d', (ratio, bound, goal, met) => {
  expect(meetsGoal({ ratio, goal: { bound, ratio: goal } })).toBe(met);
});

it('takes one sample at least', () => {
  expect(samplesFor({ effort: 0.5 }, 20)).toBe(10);
  expect(samplesFor({ effort: 0.01 }, 20)).toBe(1);
});

it('samples every variant once a round, begins each round with another one, and drops the warm-up', async () => {
  const order: string[] = [];
  const take = (name: string) => async () => order.push(name);
  const rounds = { samples: 2, warmUp: 1, signal: new AbortController().signal };
  const taken = await interleave({ a: take('a'), b: take('b') }, rounds);
  expect(order.join('')).toBe('baabba');
  expect(taken).toEqual({ a: [3, 6], b: [4, 5] });
});

it('takes no sample after it is interrupted', async () => {
  const interruption = new AbortController();
  let taken = 0;
  const take = async () => {
    interruption.abort();
    return ++taken;
  };
  const rounds = { samples: 2, warmUp: 0, signal: interruption.signal };
  await expect(interleave({ a: take, b: take }, rounds)).rejects.toThrow('aborted');
  expect(taken).toBe(1);
});

it('marks missed goals and broken checks', () => {
  const figure = (ratio: number): Figure => ({
    ...named,
    goal,
    value: ratio,
    baseline: 1,
    ratio,
    samples: 3,
  });
  const checks = [{ name: 'no scan', violations: ['user_groups'] }];
  const results = { delete: { figures: [figure(1.2), figure(2)] }, growth: { figures: [], checks } };
  expect(shortcomings(results)).toEqual([
    'delete: ours against theirs: 2.00×, at most 1.5×',
    'BROKEN  no scan',
    '          user_groups',
  ]);
  const [, met, missed] = formatResults(results).split('\n');
  expect(met).toMatch(/1\.20× .* met$/);
  expect(missed).toMatch(/2\.00× .* \*\*missed\*\*$/);
});
