import { batchRequests } from '../../../lambda/shared/batch-requests';

const calls: (readonly number[])[] = [];
const double = batchRequests(async (numbers: readonly number[]) => {
  calls.push(numbers);
  await new Promise(setImmediate);
  if (numbers.includes(13)) throw new Error('13');
  return numbers.map((number) => number * 2);
});

it('batches concurrent requests into one call, and those that arrive during it into another, which it repeats item by item', async () => {
  const first = Promise.all([1, 2, 3].map(double));
  while (calls.length === 0) await new Promise(setImmediate);
  const outcomes = await Promise.allSettled([4, 13, 5].map(double));
  expect(outcomes).toMatchObject([{ value: 8 }, { reason: new Error('13') }, { value: 10 }]);
  expect(await first).toEqual([2, 4, 6]);
  expect(await double(6)).toBe(12);
  expect(calls).toEqual([[1, 2, 3], [4, 13, 5], [4], [13], [5], [6]]);
});
