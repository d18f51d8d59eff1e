import { backoffSeconds } from '../../../lambda/webhooks/queue';

it.each([
  [1, 5],
  [2, 10],
  [8, 640],
  [9, 900],
  [1_000, 900],
])('after receive %i a message waits %i s, a fifth more or less', (receiveCount, seconds) => {
  expect(backoffSeconds(receiveCount, 0.5)).toBeCloseTo(seconds);
  expect(backoffSeconds(receiveCount, 0)).toBeCloseTo(seconds * 0.8);
  expect(backoffSeconds(receiveCount, 1)).toBeCloseTo(seconds * 1.2);
});
