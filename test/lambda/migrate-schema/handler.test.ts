import { fail, ok } from '../../../domain/result';
import { awaitDatabase, SecretUnreadable } from '../../../lambda/migrate-schema/handler';
import { recordLog } from '../../support/log';

const unavailable = fail({ kind: 'database_unavailable', reason: 'connection_lost' } as const);
const named = (name: string) => Object.assign(new Error('not yet'), { name });

/** Makes these attempts, the last one repeatedly, with a clock that only pauses advance. */
async function run(...attempts: (() => Promise<unknown>)[]) {
  const pauses: number[] = [];
  const log = recordLog();
  const attempt = () => (attempts.length > 1 ? attempts.shift() : attempts[0])?.() as Promise<never>;
  const now = () => pauses.reduce((sum, milliseconds) => sum + milliseconds, 0);
  const pause = async (milliseconds: number) => pauses.push(milliseconds);
  const outcome = await awaitDatabase(attempt, { log, now, pause }).catch(({ name }) => name);
  return { outcome, pauses, logged: log.lines.map(({ reason, waitedMs }) => `${reason} ${waitedMs}`) };
}

it('retries what is expected of a new database, and logs each attempt', async () => {
  const outcome = await run(
    async () => unavailable,
    () => Promise.reject(named('DatabaseNotFoundException')),
    () => Promise.reject(new SecretUnreadable('secret_AccessDeniedException')),
    async () => ok('applied'),
  );
  expect(outcome).toEqual({
    outcome: ok('applied'),
    pauses: [1_000, 2_000, 4_000],
    logged: ['connection_lost 0', 'DatabaseNotFoundException 1000', 'secret_AccessDeniedException 3000'],
  });
});

it('retries every 10 s for at most 8 minutes, then reports the last reason', async () => {
  const { outcome, pauses } = await run(async () => unavailable);
  expect(outcome).toEqual(unavailable);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, ...Array(46).fill(10_000)]);
});

it.each<[string, () => Promise<unknown>, unknown]>([
  ['a failed migration', async () => fail({ kind: 'refused' }), fail({ kind: 'refused' })],
  ['a bug', () => Promise.reject(named('TypeError')), 'TypeError'],
])('reports %s at once', async (_, attempt, outcome) => {
  expect(await run(attempt)).toEqual({ outcome, pauses: [], logged: [] });
});
