import { coalesce } from '../../../lambda/shared/coalesce';

/** Doubles numbers, and records the calls. */
function createDoubler() {
  const calls: (readonly number[])[] = [];
  const double = coalesce(async (numbers: readonly number[]) => {
    calls.push(numbers);
    await new Promise(setImmediate);
    if (numbers.includes(13)) throw new Error('13');
    return numbers.map((number) => number * 2);
  });
  return { calls, double };
}

it('batches concurrent requests into one call, and those that arrive during it into another', async () => {
  const { calls, double } = createDoubler();
  const first = Promise.all([1, 2, 3].map(double));
  while (calls.length === 0) await new Promise(setImmediate);
  expect(await Promise.all([4, 5].map(double))).toEqual([8, 10]);
  expect(await first).toEqual([2, 4, 6]);
  expect(await double(6)).toBe(12);
  expect(calls).toEqual([[1, 2, 3], [4, 5], [6]]);
});

it('repeats a failed call item by item', async () => {
  const { calls, double } = createDoubler();
  const outcomes = await Promise.allSettled([1, 13, 3].map(double));
  expect(outcomes).toMatchObject([{ value: 2 }, { reason: new Error('13') }, { value: 6 }]);
  expect(await double(1)).toBe(2);
  expect(calls).toEqual([[1, 13, 3], [1], [13], [3], [1]]);
});
