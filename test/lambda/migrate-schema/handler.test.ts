import { fail, ok } from '../../../domain/result';
import { awaitDatabase, SecretUnreadable } from '../../../lambda/migrate-schema/handler';
import { recordLog } from '../../support/log';

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason } as const);
const named = (name: string) => Object.assign(new Error('not yet'), { name });

/** Runs the attempts in order, repeating the last one, with a clock that only pauses advance. */
async function run(...attempts: (() => Promise<unknown>)[]) {
  let now = 0;
  let calls = 0;
  const log = recordLog();
  const attempt = () => attempts[Math.min(calls++, attempts.length - 1)]?.() as Promise<never>;
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  const outcome = await awaitDatabase(attempt, { log, now: () => now, pause }).catch((error: Error) => error);
  return { outcome, calls, lines: log.lines, seconds: now / 1_000 };
}

it.each([
  ['a refused connection', async () => unavailable('connection_lost')],
  ['a grant that lags', () => Promise.reject(named('AccessDeniedException'))],
  ['a Data API that does not know the cluster', () => Promise.reject(named('DatabaseNotFoundException'))],
  ['an unreadable secret', () => Promise.reject(new SecretUnreadable('secret_AccessDeniedException'))],
])('retries after %s, and logs each attempt', async (_, attempt) => {
  const { outcome, calls, lines } = await run(attempt, attempt, attempt, async () => ok('applied'));
  expect({ outcome, calls }).toEqual({ outcome: ok('applied'), calls: 4 });
  expect(lines.map(({ logCode, tries, waitedMs }) => [logCode, tries, waitedMs])).toEqual([
    ['DATABASE_NOT_READY', 1, 0],
    ['DATABASE_NOT_READY', 2, 1_000],
    ['DATABASE_NOT_READY', 3, 3_000],
  ]);
});

it('retries every 10 s for at most 8 minutes, then reports the last reason', async () => {
  const { outcome, calls, seconds } = await run(async () => unavailable('connection_lost'));
  expect({ outcome, calls, seconds }).toEqual({
    outcome: unavailable('connection_lost'),
    calls: 51,
    seconds: 475,
  });
});

it.each([
  ['a failed migration', async () => fail({ kind: 'refused' }), fail({ kind: 'refused' })],
  ['a bug', () => Promise.reject(named('TypeError')), named('TypeError')],
])('reports %s at once', async (_, attempt, expected) => {
  expect(await run(attempt)).toEqual({ outcome: expected, calls: 1, lines: [], seconds: 0 });
});
