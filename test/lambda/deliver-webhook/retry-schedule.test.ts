import fc from 'fast-check';
import { retrySchedule as schedule } from '../../../domain/delivery';
import {
  type AttemptResult,
  isSilent,
  nextStep,
  reasonOf,
} from '../../../lambda/deliver-webhook/retry-schedule';

const hours = 3_600_000;
const now = Date.parse('2026-11-20T12:00:00Z');
const answered = (status: number, retryAfter?: string): AttemptResult => ({
  answered: true,
  status,
  ...(retryAfter && { retryAfter }),
});
const timeout: AttemptResult = { answered: false, reason: 'timeout' };

/** Adds no jitter. */
const step = (result: AttemptResult, attempt: number, random = 0) =>
  nextStep(result, attempt, { attemptedAt: now - 2_000, now, random, schedule });

// Others: handler.test.ts. Which responses deliver, retry or disable: test/contract/webhooks.test.ts.
it.each([
  [answered(300), 'redirect_not_followed'],
  [answered(400), 'client_error'],
  [answered(429), 'too_many_requests'],
])('the reason of %j is %s', (result, reason) => expect(reasonOf(result)).toBe(reason));

it('only an attempt that could have had a response is silent', () => {
  const slow: AttemptResult = { answered: false, reason: 'slow' };
  expect([timeout, slow, answered(503)].map(isSilent)).toEqual([true, false, false]);
});

it.each([
  [1, 0, 5],
  [1, 1, 4],
  [14, 0, 21_600],
  [schedule.length - 1, 0.5, 19_440],
])('doubles the delay up to 6 h, minus a fifth: attempt %i, random %d, %i s', (attempt, random, seconds) => {
  const next = { outcome: 'failed', retryInMs: seconds * 1_000, attempt: attempt + 1 };
  expect(step(timeout, attempt, random)).toEqual(next);
});

it.each([
  ['60', 60, 5],
  ['100000', 21_600, 14],
  ['9'.repeat(400), 21_600, 14],
  ['299.997', 300, 7],
  [' 0060 ', 60, 5],
  // The three formats of a date: https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7
  ['Fri, 20 Nov 2026 12:10:00 GMT', 600, 8],
  ['Friday, 20-Nov-26 12:10:00 GMT', 600, 8],
  ['Fri Nov 20 12:10:00 2026', 600, 8],
  ['Fri, 20 Nov 2026 13:10:00 +0100', 600, 8],
  // Ignored.
  ...['Fri, 20 Nov 2026 11:00:00 GMT', '2030-01-01', '-60', '1e3', '60, 60', 'soon', 'Fri, soon'].map(
    (text): [string, number, number] => [text, 5, 2],
  ),
])('honours Retry-After of HTTP, up to 6 h: %j, %i s, attempt %i', (retryAfter, seconds, attempt) => {
  const next = { outcome: 'failed', retryInMs: seconds * 1_000, attempt };
  expect(step(answered(503, retryAfter), 1)).toEqual(next);
});

it.each([
  [18_000, 1, 2_475],
  // Exactly the time of the last attempt in the schedule.
  [21_600, schedule.length - 1, 90],
  [60, 1, 12],
])(
  'spreads 400 retries that Retry-After asks for in %i s, after attempt %i, over %i s from then',
  (asked, attempt, over) => {
    const date = new Date(now + asked * 1_000).toUTCString();
    const delays = Array.from({ length: 400 }, (_, index) => step(answered(503, date), attempt, index / 399));
    const seconds = delays.map((next) => (next.outcome === 'failed' ? next.retryInMs / 1_000 : Number.NaN));
    expect([Math.min(...seconds), Math.max(...seconds)]).toEqual([asked, asked + over]);
    expect(new Set(seconds).size).toBe(400);
  },
);

it('makes the last attempt even if Retry-After is later, and gives up after it', () => {
  const last = schedule.length;
  const retryInMs = 21_690_000;
  expect(step(answered(503, '99999'), last - 1, 1)).toEqual({ outcome: 'failed', retryInMs, attempt: last });
  const short = { attemptedAt: now, now, random: 0, schedule: [0, 60_000] };
  const inTime = { outcome: 'failed', retryInMs: 60_000, attempt: 2 };
  expect(nextStep(answered(503, '600'), 1, short)).toEqual(inTime);
  expect(step(timeout, last)).toEqual({ outcome: 'given_up' });
});

it('ends within 72 h of the first attempt, for any jitter and Retry-After', () => {
  function* latest() {
    for (let attempt = 1; ; attempt++) {
      const delay = ((schedule[attempt] ?? 0) - (schedule[attempt - 1] ?? 0)) / 1_000;
      yield { random: 1, wait: Math.max(0, delay) };
    }
  }
  const turn = fc.record({ random: fc.double({ min: 0, max: 1, noNaN: true }), wait: fc.nat(8 * 3_600) });
  fc.assert(
    fc.property(fc.infiniteStream(turn), (turns) => {
      let [age, attempt] = [0, 1];
      for (const { random, wait } of turns) {
        const next = step(answered(503, String(wait)), attempt, random);
        if (next.outcome !== 'failed') break;
        age += next.retryInMs;
        ({ attempt } = next);
      }
      expect(attempt).toBe(schedule.length);
      expect(age).toBeGreaterThan(0.8 * 71 * hours);
      expect(age).toBeLessThan(72 * hours);
    }),
    // The latest of all: each attempt is asked for at its very time, and spread the most.
    { examples: [[fc.stream(latest())]] },
  );
});
