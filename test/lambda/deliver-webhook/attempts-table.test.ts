import { setTimeout as sleep } from 'node:timers/promises';
import { probe } from '../../../domain/probe';
import { ok } from '../../../domain/result';
import { sql } from '../../../lambda/database/database';
import { createAttemptStore } from '../../../lambda/deliver-webhook/attempts-table';
import type { HealthResult } from '../../../lambda/deliver-webhook/health';
import type { AttemptStore } from '../../../lambda/deliver-webhook/ports';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { useMigratedDatabase } from '../../support/region-database';
import { addOrganization, addWebhook } from '../../support/webhooks';

// Batches at once. What a batch alone does: test/contract/delivery-ports.test.ts.

const region = useMigratedDatabase();
const url = 'https://hooks.example.com/';
const silent: HealthResult = { url, unhealthy: true, answered: false, silent: true, askedMs: 0 };
const good: HealthResult = { ...silent, unhealthy: false, answered: true, silent: false };
const attempt = {
  eventId: 'ev-1',
  series: '',
  attempt: 1,
  attemptedAt: Date.UTC(2036, 10, 20),
  durationMs: 10,
  outcome: 'given_up',
  reason: 'timeout',
} as const;

let store: AttemptStore;
let webhookIds: readonly string[];
beforeEach(async () => {
  store = createAttemptStore(region.as('deliver_webhook'));
  const organizationId = await addOrganization(region.owner);
  const add = () => addWebhook(region.owner, organizationId, { url });
  webhookIds = await Promise.all([add(), add()]);
});

let number = 0;
const write = (...results: readonly (readonly [webhookId: string | undefined, HealthResult])[]) =>
  store.write(
    results.map(([webhookId = '', health]) => ({
      ...attempt,
      webhookId,
      deliveryId: `msg_${webhookId}`,
      number: ++number,
      health,
    })),
  );
const failures = async () => {
  const found = await region.query`
    select failures from webhooks where webhook_id in (${webhookIds[0] ?? ''}, ${webhookIds[1] ?? ''})
    order by webhook_id = ${webhookIds[1] ?? ''}`;
  return found.map((each) => each.failures);
};

it('a response waits for the lock of its webhook and counts; silence does not wait, and is left out', async () => {
  const [webhookId] = webhookIds;
  await write([webhookId, silent]);
  let answering: ReturnType<typeof write> | undefined;
  await region.owner.transaction(async (other) => {
    await other.execute(sql`select url from webhooks where webhook_id = ${webhookId ?? ''} for update`);
    const [, unlocked] = webhookIds;
    const skipped = await write([webhookId, silent], [unlocked, silent]);
    expect(skipped).toMatchObject(ok([{ isWritten: true }, { health: { failures: 1 } }]));
    expect(skipped.ok && skipped.value[0]).not.toHaveProperty('health');
    answering = write([webhookId, good]);
    expect(await Promise.race([answering, sleep(300)])).toBeUndefined();
    return ok(null);
  });
  expect(await answering).toMatchObject(ok([{ isWritten: true, health: { failures: 0 } }]));
  expect(await failures()).toEqual([0, 1]);
});

it('with the roles of their webhooks crossed, none fails', async () => {
  const [one, two] = webhookIds;
  const batches = Array.from({ length: 200 }, (_, index) =>
    index % 2 === 0 ? write([one, good], [two, silent]) : write([two, good], [one, silent]),
  );
  const outcomes = await Promise.all(batches);
  expect(outcomes.filter((outcome) => !outcome.ok)).toEqual([]);
});

it("a trial knows whether the environment's own probe gets responses", async () => {
  const [webhookId = ''] = webhookIds;
  await region.query`
    insert into webhooks (webhook_id, organization_id, url)
    select ${probe.webhookId}, organization_id, url from webhooks where webhook_id = ${webhookId}`;
  await write([probe.webhookId, silent]);
  await region.query`
    update webhooks set paused_until = now(), pause_reason = 'no_response', pause_seconds = 30
    where webhook_id = ${webhookId}`;
  const { find } = createWebhooks(region.as('deliver_webhook'));
  const found = await find({ webhookId, deliveryId: 'msg_1', mayTry: true });
  expect(found).toMatchObject(ok({ trial: { probeAnswers: false } }));
});
