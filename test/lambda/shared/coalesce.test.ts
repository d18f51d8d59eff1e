import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from '../../../lambda/shared/coalesce';

/** Gives each number doubled after a while, and keeps what it was asked for in one call. */
function doubler() {
  const calls: (readonly number[])[] = [];
  const double = coalesce(async (numbers: readonly number[]) => {
    calls.push(numbers);
    await sleep(5);
    if (numbers.includes(13)) throw new Error('13');
    return numbers.map((number) => number * 2);
  });
  return { calls, double };
}

it('asks once for what is asked for side by side, and gives each its own answer', async () => {
  const { calls, double } = doubler();
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6]);
  expect(calls).toEqual([[1, 2, 3]]);
});

it('asks once more for all that came while a call was under way', async () => {
  const { calls, double } = doubler();
  const first = double(1);
  await sleep(2);
  const others = Promise.all([2, 3].map(double));
  expect([await first, await others]).toEqual([2, [4, 6]]);
  expect(calls).toEqual([[1], [2, 3]]);
});

it('asks again when it is used again later', async () => {
  const { calls, double } = doubler();
  expect([await double(1), await double(2)]).toEqual([2, 4]);
  expect(calls).toEqual([[1], [2]]);
});

it('lets what throws fail alone, once with the others and once by itself', async () => {
  const { calls, double } = doubler();
  const outcomes = await Promise.allSettled([1, 13, 3].map(double));
  expect(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason)),
  ).toEqual([2, new Error('13'), 6]);
  expect(calls).toEqual([[1, 13, 3], [1], [13], [3]]);
});

it('goes on after a call that threw', async () => {
  const { double } = doubler();
  await expect(double(13)).rejects.toThrow('13');
  expect(await double(1)).toBe(2);
});
