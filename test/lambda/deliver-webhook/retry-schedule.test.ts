import fc from 'fast-check';
import {
  type AttemptResult,
  nextStep,
  reasonOf,
  retrySchedule as schedule,
} from '../../../lambda/deliver-webhook/retry-schedule';

const second = 1_000;
const hour = 3_600 * second;
const now = Date.parse('2026-11-20T12:00:00Z');
const answered = (status: number, retryAfter?: string): AttemptResult => ({
  answered: true,
  status,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const unanswered: AttemptResult = { answered: false, reason: 'timeout' };

/** Without jitter. */
const step = (result: AttemptResult, attempt: number, random = 0) =>
  nextStep(result, attempt, { now, random, schedule });
const retryIn = (result: AttemptResult, attempt: number, random = 0) => {
  const next = step(result, attempt, random);
  return next.outcome === 'failed' ? next.retryInMs / second : next.outcome;
};

it.each([
  [1, 5],
  [2, 10],
  [13, 20_480],
  [14, 21_600],
  [schedule.length - 1, 21_600],
])('waits twice as long after each attempt, up to 6 h: after attempt %i, %i s', (attempt, seconds) => {
  for (const result of [unanswered, answered(500), answered(300)])
    expect(step(result, attempt)).toEqual({
      outcome: 'failed',
      retryInMs: seconds * second,
      attempt: attempt + 1,
    });
});

it('subtracts a jitter of at most a fifth', () => {
  expect(retryIn(unanswered, 1, 1)).toBe(4);
  expect(retryIn(unanswered, 20, 0.5)).toBe(0.9 * 21_600);
});

it.each([
  ['seconds', '120', 120],
  ['zero seconds, which is sooner than our own delay', '0', 5],
  ['seconds with spaces around', ' 30 ', 30],
  ['more than 6 h', '100000', 21_600],
  ['a date', 'Fri, 20 Nov 2026 12:10:00 GMT', 600],
  ['a date in the old form', 'Friday, 20-Nov-26 12:10:00 GMT', 600],
  ["a date in C's form, which is read in the machine's zone", 'Fri Nov 20 12:10:00 2026 GMT', 600],
  ['a date in the past', 'Fri, 20 Nov 2020 12:10:00 GMT', 5],
  ['a fraction', '1.5', 5],
  ['noise', 'soon', 5],
])('honours a Retry-After of %s', (_name, value, seconds) => {
  expect(retryIn(answered(503, value), 1)).toBe(seconds);
  expect(retryIn(answered(429, value), 1)).toBe(seconds);
});

it('skips the scheduled attempts that Retry-After covers', () => {
  expect(step(answered(503, '60'), 1)).toEqual({ outcome: 'failed', retryInMs: 60_000, attempt: 5 });
  expect(step(answered(503, '1'), 12)).toMatchObject({ retryInMs: 10_240_000, attempt: 13 });
});

it('makes the last attempt even if Retry-After is later, then gives up unless it is delivered or disabled', () => {
  const last = schedule.length;
  expect(step(answered(503, '21600'), last - 1, 1)).toMatchObject({ attempt: last });
  expect(step(answered(503, '60'), last)).toEqual({ outcome: 'given_up' });
  expect(step(answered(204), last)).toEqual({ outcome: 'delivered' });
  expect(step(answered(410), last)).toEqual({ outcome: 'disabled' });
});

it('ends within 72 h of the first attempt, for any jitter and Retry-After', () => {
  const turn = fc.record({
    random: fc.double({ min: 0, max: 1, noNaN: true }),
    retryAfter: fc.option(fc.integer({ min: 0, max: 8 * 3_600 }).map(String), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.infiniteStream(turn), (turns) => {
      let [age, attempt] = [0, 1];
      for (const { random, retryAfter } of turns) {
        const next = step(answered(503, retryAfter), attempt, random);
        if (next.outcome !== 'failed') break;
        expect(next.attempt).toBeGreaterThan(attempt);
        age += next.retryInMs;
        ({ attempt } = next);
      }
      expect(attempt).toBe(schedule.length);
      expect(age).toBeGreaterThan(0.8 * 71 * hour);
      expect(age).toBeLessThan(72 * hour);
    }),
  );
});

it.each([
  [answered(200), 'ok'],
  [answered(299), 'ok'],
  [answered(300), 'redirect_not_followed'],
  [answered(400), 'client_error'],
  [answered(410), 'gone'],
  [answered(429), 'too_many_requests'],
  [answered(500), 'server_error'],
  [unanswered, 'timeout'],
])('names the reason: %j is %s', (result, reason) => {
  expect(reasonOf(result)).toBe(reason);
});
