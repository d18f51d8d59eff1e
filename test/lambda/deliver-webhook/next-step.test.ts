import fc from 'fast-check';
import {
  type AttemptResult,
  nextStep,
  reasonOf,
  retrySchedule as schedule,
} from '../../../lambda/deliver-webhook/next-step';

const second = 1_000;
const hour = 3_600 * second;
const now = Date.parse('2026-11-20T12:00:00Z');
const answered = (status: number, retryAfter?: string): AttemptResult => ({
  answered: true,
  status,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const unanswered: AttemptResult = { answered: false, reason: 'timeout' };

/** Jitter in the middle: none. */
const step = (result: AttemptResult, age: number, random = 0.5) =>
  nextStep(result, { now, startedAt: now - age, random });
const retryIn = (result: AttemptResult, age: number, random = 0.5) => {
  const next = step(result, age, random);
  return next.outcome === 'failed' ? next.retryInMs / second : next.outcome;
};

it.each([200, 201, 202, 204, 299])('%i is a delivery, at any age', (status) => {
  expect(step(answered(status), 0)).toEqual({ outcome: 'delivered' });
  expect(step(answered(status), 100 * hour)).toEqual({ outcome: 'delivered' });
});

it('410 disables, at any age', () => {
  expect(step(answered(410), 0)).toEqual({ outcome: 'disabled' });
  expect(step(answered(410), 100 * hour)).toEqual({ outcome: 'disabled' });
});

it.each([
  [0, 5],
  [second, 5],
  [5 * second, 5],
  [7 * second, 7],
  [hour, 3_600],
  [6 * hour, 21_600],
  [24 * hour, 21_600],
])('waits for its age, between 5 s and 6 h: at %i ms, %i s', (age, seconds) => {
  expect(retryIn(unanswered, age)).toBe(seconds);
  expect(retryIn(answered(500), age)).toBe(seconds);
  expect(retryIn(answered(302), age)).toBe(seconds);
});

it('varies by a fifth to either side', () => {
  expect(retryIn(unanswered, 0, 0)).toBeCloseTo(4);
  expect(retryIn(unanswered, 0, 1)).toBeCloseTo(6);
  expect(retryIn(unanswered, 24 * hour, 0)).toBeCloseTo(0.8 * 21_600);
  expect(retryIn(unanswered, 24 * hour, 1)).toBeCloseTo(1.2 * 21_600);
});

it.each([
  ['seconds', '120', 120],
  ['zero seconds, which is sooner than our own delay', '0', 5],
  ['seconds with spaces around', ' 30 ', 30],
  ['more than 6 h', '100000', 21_600],
  ['a number of ten digits', '9999999999', 21_600],
  ['a date', 'Fri, 20 Nov 2026 12:10:00 GMT', 600],
  ['a date in the old form', 'Friday, 20-Nov-26 12:10:00 GMT', 600],
  ["a date in C's form, which is read in the machine's zone", 'Fri Nov 20 12:10:00 2026 GMT', 600],
  ['a date in the past', 'Fri, 20 Nov 2020 12:10:00 GMT', 5],
  ['a date in ten years', 'Fri, 20 Nov 2036 12:10:00 GMT', 21_600],
  ['a negative number', '-1', 5],
  ['a fraction', '1.5', 5],
  ['noise', 'soon', 5],
  ['nothing', '', 5],
])('honours a Retry-After of %s', (_name, value, seconds) => {
  expect(retryIn(answered(503, value), 0)).toBe(seconds);
  expect(retryIn(answered(429, value), 0)).toBe(seconds);
});

it('never tries sooner than its own schedule, whatever is asked', () => {
  expect(retryIn(answered(503, '1'), hour)).toBe(3_600);
});

it('tries a last time at 72 h, and then gives up', () => {
  expect(retryIn(unanswered, 71 * hour)).toBe(3_600);
  expect(retryIn(answered(503, '21600'), 71 * hour)).toBe(3_600);
  expect(step(unanswered, 72 * hour)).toEqual({ outcome: 'given_up' });
  expect(step(answered(503, '60'), 73 * hour)).toEqual({ outcome: 'given_up' });
});

it('always comes to an end: 22 to 31 attempts in 72 h, whatever the jitter', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (randoms) => {
      let age = 0;
      let attempts = 1;
      for (const random of randoms) {
        const next = step(unanswered, age, random);
        if (next.outcome !== 'failed') break;
        expect(next.retryInMs).toBeGreaterThan(0);
        expect(next.retryInMs).toBeLessThanOrEqual(schedule.maxDelay * (1 + schedule.jitter));
        age += next.retryInMs;
        attempts += 1;
      }
      expect(age).toBeCloseTo(schedule.giveUpAfter, -1);
      expect(attempts).toBeGreaterThanOrEqual(22);
      expect(attempts).toBeLessThanOrEqual(31);
    }),
  );
});

it.each([
  [answered(204), 'ok'],
  [answered(302), 'redirect_not_followed'],
  [answered(404), 'client_error'],
  [answered(410), 'gone'],
  [answered(429), 'too_many_requests'],
  [answered(503), 'server_error'],
  [unanswered, 'timeout'],
])('names why: %j is %s', (result, reason) => {
  expect(reasonOf(result)).toBe(reason);
});
