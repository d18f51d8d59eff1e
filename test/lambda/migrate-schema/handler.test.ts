import { fail, ok, type Result } from '../../../domain/result';
import { awaitDatabase, createHandler, SecretUnreadable } from '../../../lambda/migrate-schema/handler';
import type { MigrationFailed } from '../../../lambda/migrate-schema/migrate-schema';
import { recordLog } from '../../support/log';

const unavailable = fail({ kind: 'database_unavailable', reason: 'connection_lost' } as const);
const named = (name: string) => Object.assign(new Error('not yet'), { name });

describe('the custom resource', () => {
  const physical = { PhysicalResourceId: 'schema-migration' };
  const handle = (result: Result<never, MigrationFailed>, readRoles = async () => [] as const) => {
    const connect = jest.fn(async () => ({ execute: jest.fn(), transaction: async () => result, close }));
    const close = jest.fn(async () => undefined);
    const handler = createHandler({ log: recordLog(), connect: connect as never, readRoles });
    return { connect, close, run: (RequestType: 'Create' | 'Update' | 'Delete') => handler({ RequestType }) };
  };
  const refused = { kind: 'refused', migration: '0002-b', sqlState: '42P01', message: 'no table' } as const;

  it.each<[MigrationFailed, string]>([
    [refused, 'Migration 0002-b failed and was rolled back: no table (SQLSTATE 42P01).'],
    [
      { kind: 'edited', migration: '0002-b' },
      'Migration 0002-b was applied before and has been edited since.',
    ],
    [{ kind: 'timed_out', migration: '0002-b' }, 'Migration 0002-b exceeded the time limit'],
  ])('fails the deployment with the reason of %j', async (failure, message) => {
    for (const type of ['Create', 'Update'] as const) {
      const { run, close } = handle(fail(failure));
      await expect(run(type)).rejects.toThrow(message);
      expect(close).toHaveBeenCalledTimes(1);
    }
  });

  it('keeps its id, and does nothing when it is deleted', async () => {
    const { connect, run } = handle(fail(refused));
    expect(await run('Delete')).toEqual(physical);
    expect(connect).not.toHaveBeenCalled();
  });
});

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
