import fc from 'fast-check';
import { retrySchedule as schedule } from '../../../domain/delivery';
import {
  type AttemptResult,
  isSilent,
  nextStep,
  reasonOf,
} from '../../../lambda/deliver-webhook/retry-schedule';

const now = Date.parse('2026-11-20T12:00:00Z');
const answered = (status: number, retryAfter?: string): AttemptResult => ({
  answered: true,
  status,
  ...(retryAfter && { retryAfter }),
});
const timeout: AttemptResult = { answered: false, reason: 'timeout' };

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

const last = schedule.length;
const hour = 3_600;
/** Seconds until the next attempt, and its number. */
it.each<[asked: string | undefined, attempt: number, random: number, seconds: number, next: number]>([
  // Doubles up to 6 h, minus a fifth.
  [undefined, 1, 0, 5, 2],
  [undefined, 1, 1, 4, 2],
  [undefined, 14, 0, 6 * hour, 15],
  [undefined, last - 1, 0.5, 5.4 * hour, last],
  // From what was asked for to the attempt after it, at most a fifth later and at least up to 90 s.
  ['60', 1, 0, 60, 5],
  ['60', 1, 1, 72, 5],
  ['60', 1, 0.5, 66, 5],
  ['18000', 1, 1, 18_000 + 2_475, 13],
  ['21600', last - 1, 1, 21_600 + 90, last],
  ['99999', last - 1, 1, 21_600 + 90, last],
  ['100000', 1, 0, 6 * hour, 14],
  ['9'.repeat(400), 1, 0, 6 * hour, 14],
  ['299.997', 1, 0, 300, 7],
  [' 0060 ', 1, 0, 60, 5],
  // The three formats of a date: https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7
  ['Fri, 20 Nov 2026 12:10:00 GMT', 1, 0, 600, 8],
  ['Friday, 20-Nov-26 12:10:00 GMT', 1, 0, 600, 8],
  ['Fri Nov 20 12:10:00 2026', 1, 0, 600, 8],
  ['Fri, 20 Nov 2026 13:10:00 +0100', 1, 0, 600, 8],
  // Ignored.
  ...['Fri, 20 Nov 2026 11:00:00 GMT', '2030-01-01', '-60', '1e3', '60, 60', 'soon', 'Fri, soon'].map(
    (text): [string, number, number, number, number] => [text, 1, 0, 5, 2],
  ),
])('Retry-After %j, attempt %i, random %d: %d s, attempt %i', (asked, attempt, random, seconds, next) => {
  const expected = { outcome: 'failed', retryInMs: seconds * 1_000, attempt: next };
  expect(step(answered(503, asked), attempt, random)).toEqual(expected);
});

it('makes the last attempt in time, and gives up after it', () => {
  const short = { attemptedAt: now, now, random: 0, schedule: [0, 60_000] };
  const inTime = { outcome: 'failed', retryInMs: 60_000, attempt: 2 };
  expect(nextStep(answered(503, '600'), 1, short)).toEqual(inTime);
  expect(step(timeout, last)).toEqual({ outcome: 'given_up' });
});

it('ends within 72 h of the first attempt, for any jitter and Retry-After', () => {
  // The latest of all: each attempt is asked for at its very time, and spread the most.
  const latest = schedule.map((time, index) => {
    return { random: 1, wait: Math.max(0, ((schedule[index + 1] ?? 0) - time) / 1_000) };
  });
  const turn = fc.record({ random: fc.double({ min: 0, max: 1, noNaN: true }), wait: fc.nat(8 * hour) });
  const turns = fc.array(turn, { minLength: schedule.length, maxLength: schedule.length });
  fc.assert(
    fc.property(turns, (turns) => {
      let [age, attempt] = [0, 1];
      for (const { random, wait } of turns) {
        const next = step(answered(503, String(wait)), attempt, random);
        if (next.outcome !== 'failed') break;
        age += next.retryInMs;
        ({ attempt } = next);
      }
      expect(attempt).toBe(schedule.length);
      expect(age).toBeGreaterThan(0.8 * 71 * hour * 1_000);
      expect(age).toBeLessThan(72 * hour * 1_000);
    }),
    { examples: [[latest]] },
  );
});
