import { fail, ok } from '../../../domain/result';
import { awaitDatabase, SecretUnreadable } from '../../../lambda/migrate-schema/await-database';

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason } as const);
const named = (name: string) => Object.assign(new Error('not yet'), { name });

/** Runs attempts one after the other, the last one for ever, on a clock that only pauses move. */
async function run(...attempts: (() => Promise<unknown>)[]) {
  let now = 0;
  let calls = 0;
  const lines: Record<string, unknown>[] = [];
  const log = { warn: (_: string, line: object) => void lines.push({ ...line }) } as never;
  const attempt = () => attempts[Math.min(calls++, attempts.length - 1)]?.() as Promise<never>;
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  const outcome = await awaitDatabase(attempt, { log, now: () => now, pause }).catch((error: Error) => error);
  return { outcome, calls, lines, seconds: now / 1_000 };
}

it.each([
  ['a refused connection', async () => unavailable('connection_lost')],
  ['a connection that times out', async () => unavailable('timeout')],
  ['a grant that lags', () => Promise.reject(named('AccessDeniedException'))],
  ['a Data API that does not know the cluster', () => Promise.reject(named('DatabaseNotFoundException'))],
  [
    'a secret that cannot be read',
    () => Promise.reject(new SecretUnreadable('secret_AccessDeniedException')),
  ],
])('waits out %s, and logs each try', async (_, attempt) => {
  const { outcome, calls, lines } = await run(attempt, attempt, attempt, async () => ok('applied'));
  expect(outcome).toEqual(ok('applied'));
  expect(calls).toBe(4);
  expect(lines.map(({ logCode, tries, waitedMs }) => [logCode, tries, waitedMs])).toEqual([
    ['DATABASE_NOT_READY', 1, 0],
    ['DATABASE_NOT_READY', 2, 1_000],
    ['DATABASE_NOT_READY', 3, 3_000],
  ]);
});

it('tries every 10 s, for 8 minutes at most, and then reports the last reason', async () => {
  const { outcome, calls, seconds, lines } = await run(async () => unavailable('connection_lost'));
  expect(outcome).toEqual(unavailable('connection_lost'));
  expect(seconds).toBeGreaterThan(7.5 * 60);
  expect(seconds).toBeLessThanOrEqual(8 * 60);
  expect(calls).toBeGreaterThan(45);
  expect(lines).toHaveLength(calls - 1);
});

it.each([
  ['a broken migration', async () => fail({ kind: 'refused' }), fail({ kind: 'refused' })],
  ['a migration that takes too long', async () => fail({ kind: 'timed_out' }), fail({ kind: 'timed_out' })],
  ['a bug', () => Promise.reject(named('TypeError')), named('TypeError')],
])('reports %s at once', async (_, attempt, expected) => {
  expect(await run(attempt)).toEqual({ outcome: expected, calls: 1, lines: [], seconds: 0 });
});
