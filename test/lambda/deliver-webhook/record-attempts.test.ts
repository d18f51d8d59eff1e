import { fail, ok } from '../../../domain/result';
import type { HealthResult } from '../../../lambda/deliver-webhook/health';
import type { AttemptRow, AttemptStore } from '../../../lambda/deliver-webhook/ports';
import { createRecording } from '../../../lambda/deliver-webhook/record-attempts';
import { SimulatedDatabase } from '../../runs/simulate/database';

const url = 'https://hooks.example.com/';
const good: HealthResult = { url, unhealthy: false, answered: true, silent: false, askedMs: 0 };
const silent: HealthResult = { ...good, unhealthy: true, answered: false, silent: true };

/** A store with a healthy webhook, and what is called of it. */
function open() {
  const database = new SimulatedDatabase(Date.now);
  const webhook = { webhookId: 'wh-1', organizationId: '', url, secretVersion: 1 };
  database.webhooks.set('wh-1', { ...webhook, health: { failures: 0 } });
  const store: AttemptStore = {
    write: async (attempts) => ok(database.write(attempts)),
    set: async (changes) => ok(database.set(changes)),
  };
  const calls = { write: jest.spyOn(store, 'write'), set: jest.spyOn(store, 'set') };
  const record = createRecording(store);
  let number = 0;
  const attempt = (health?: HealthResult): AttemptRow => ({
    eventId: 'ev-1',
    webhookId: 'wh-1',
    deliveryId: 'msg_1',
    series: '',
    number: ++number,
    attempt: number,
    attemptedAt: Date.now(),
    durationMs: 1,
    outcome: 'failed',
    reason: 'timeout',
    ...(health && { health }),
  });
  return {
    database,
    calls,
    record: (...results: readonly (HealthResult | undefined)[]) =>
      Promise.all(results.map((health) => record(attempt(health)))),
  };
}

it('a batch for healthy webhooks needs one call', async () => {
  const { record, calls } = open();
  expect(await record(good, good, undefined)).toEqual(Array(3).fill(ok({ isWritten: true })));
  expect([calls.write.mock.calls.length, calls.set.mock.calls.length]).toEqual([1, 0]);
});

it('tells a pause once, with the first attempt of its batch', async () => {
  const { record, calls } = open();
  const [first, ...others] = await record(...Array(6).fill(silent));
  expect(first).toMatchObject(ok({ isWritten: true, pause: { reason: 'no_response', length: 30_000 } }));
  expect(others).toEqual(Array(5).fill(ok({ isWritten: true })));
  expect([calls.write.mock.calls.length, calls.set.mock.calls.length]).toEqual([1, 1]);
});

it.each([
  ['fails', async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const)],
  ['comes too late', async () => ok([])],
])('if the second call %s, the attempts are written, and the next result decides again', async (_, set) => {
  const { record, database, calls } = open();
  calls.set.mockImplementationOnce(set);
  expect(await record(...Array(5).fill(silent))).toEqual(Array(5).fill(ok({ isWritten: true })));
  expect(database.webhooks.get('wh-1')?.health).toEqual({ failures: 5 });
  expect(await record(silent)).toMatchObject([ok({ pause: { reason: 'no_response' } })]);
});
