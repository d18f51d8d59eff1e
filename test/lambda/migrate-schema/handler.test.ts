import { fail, ok } from '../../../domain/result';
import { awaitDatabase, SecretUnreadable } from '../../../lambda/migrate-schema/handler';
import { recordLog } from '../../support/log';

const unavailable = fail({ kind: 'database_unavailable', reason: 'connection_lost' } as const);
const named = (name: string) => Object.assign(new Error('not yet'), { name });

/** Makes the attempt until it succeeds the fourth time, with a clock that only pauses advance. */
async function run(attempt: () => Promise<unknown>, succeedsAt = 4) {
  let now = 0;
  let calls = 0;
  const log = recordLog();
  const attempts = () => {
    calls += 1;
    return (calls === succeedsAt ? Promise.resolve(ok('applied')) : attempt()) as Promise<never>;
  };
  const pause = async (milliseconds: number) => {
    now += milliseconds;
  };
  const outcome = await awaitDatabase(attempts, { log, now: () => now, pause }).catch(({ name }) => name);
  return { outcome, calls, waits: log.lines.map(({ tries, waitedMs }) => [tries, waitedMs]), now };
}

it.each<[string, () => Promise<unknown>]>([
  ['a refused connection', async () => unavailable],
  ['a grant that lags', () => Promise.reject(named('AccessDeniedException'))],
  ['a Data API that does not know the cluster', () => Promise.reject(named('DatabaseNotFoundException'))],
  ['an unreadable secret', () => Promise.reject(new SecretUnreadable('secret_AccessDeniedException'))],
])('retries after %s, and logs each attempt', async (_, attempt) => {
  const waits = [
    [1, 0],
    [2, 1_000],
    [3, 3_000],
  ];
  expect(await run(attempt)).toEqual({ outcome: ok('applied'), calls: 4, waits, now: 7_000 });
});

it('retries every 10 s for at most 8 minutes, then reports the last reason', async () => {
  const never = Number.POSITIVE_INFINITY;
  const outcome = await run(async () => unavailable, never);
  expect(outcome).toMatchObject({ outcome: unavailable, calls: 51, now: 475_000 });
});

it.each<[string, () => Promise<unknown>, unknown]>([
  ['a failed migration', async () => fail({ kind: 'refused' }), fail({ kind: 'refused' })],
  ['a bug', () => Promise.reject(named('TypeError')), 'TypeError'],
])('reports %s at once', async (_, attempt, outcome) => {
  expect(await run(attempt)).toEqual({ outcome, calls: 1, waits: [], now: 0 });
});
