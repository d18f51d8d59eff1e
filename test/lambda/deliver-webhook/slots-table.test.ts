import { setTimeout as sleep } from 'node:timers/promises';
import { fail, ok } from '../../../domain/result';
import { sql } from '../../../lambda/database/sql';
import type { SlotRequest, Slots } from '../../../lambda/deliver-webhook/pace';
import { createSlots } from '../../../lambda/deliver-webhook/slots-table';
import { rows } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';
import { addOrganization, addWebhook } from '../../support/webhooks';

describe.each(['data-api', 'direct'] as const)('slots in the database, reached by %s', (access) => {
  const region = useMigratedDatabase(access);
  let webhookId: string;
  let slots: Slots;
  beforeEach(async () => {
    webhookId = await addWebhook(region.owner, await addOrganization(region.owner));
    slots = createSlots(region.as('deliver_webhook'));
  });

  /** Ten slots a minute: no test lasts as long as one. */
  const reserve = async (change: Partial<SlotRequest> = {}, from = slots): Promise<number> => {
    const reserved = await from.reserve({
      ...{ webhookId, acceptedAt: 0, repeated: false, lengthMs: 6_000, ...change },
    });
    if (!reserved.ok) throw new Error(reserved.error.reason);
    return Math.round(reserved.value / 6_000);
  };

  it('follow each other, within a batch by the age of its deliveries', async () => {
    expect(await Promise.all([3, 1, 2].map((acceptedAt) => reserve({ acceptedAt })))).toEqual([2, 0, 1]);
    expect(await reserve({ acceptedAt: 0 })).toBe(3);
  });

  it('are of one webhook, and of first or of repeated attempts', async () => {
    const other = await addWebhook(region.owner, await addOrganization(region.owner));
    const changes = [{}, { repeated: true }, { webhookId: other }, {}];
    expect(await Promise.all(changes.map((change) => reserve(change)))).toEqual([0, 0, 0, 1]);
  });

  it('are not saved up: a line that was idle begins now, with one', async () => {
    await reserve();
    await region.owner.execute(sql`update delivery_slots set next_at = now() - interval '1 day'`);
    expect(await Promise.all([reserve(), reserve()])).toEqual([0, 1]);
  });

  it('are each given once, however many instances ask', async () => {
    const instances = Array.from({ length: 4 }, () => createSlots(region.as('deliver_webhook')));
    const given = await Promise.all(instances.flatMap((from) => [1, 2, 3].map(() => reserve({}, from))));
    expect(given.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  // Locks are the database's, whatever reaches it.
  if (access === 'direct') {
    it('are taken in one order, so that two batches never wait for each other', async () => {
      const organizationId = await addOrganization(region.owner);
      const ids = await Promise.all(
        Array.from({ length: 9 }, () => addWebhook(region.owner, organizationId)),
      );
      const reserveAll = () => Promise.all(ids.map((webhookId) => reserve({ webhookId })));
      await reserveAll();
      const inOrder = ids.toSorted();
      let reserved: Promise<number[]> | undefined;
      await region.owner.transaction(async (holder) => {
        await holder.execute(
          sql`select from delivery_slots where webhook_id = ${inOrder[4] as string} for update`,
        );
        reserved = reserveAll();
        const waiting = sql`select from pg_locks where not granted`;
        while ((await rows(holder, waiting)).length === 0) await sleep(10);
        const free = await rows(
          holder,
          sql`select webhook_id from delivery_slots
          where webhook_id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))
          order by webhook_id for update skip locked`,
        );
        expect(free.map(({ webhook_id: id }) => id)).toEqual(inOrder.slice(4));
        return ok(undefined);
      });
      expect(await reserved).toEqual(ids.map(() => 1));
    });
  }

  it('go with their webhook', async () => {
    await reserve();
    await region.owner.execute(sql`delete from webhooks where webhook_id = ${webhookId}`);
    expect(await region.query`select from delivery_slots where webhook_id = ${webhookId}`).toEqual([]);
    expect(await reserve()).toBe(0);
  });
});

it('are unavailable with the database', async () => {
  const unavailable = fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
  const slots = createSlots({ execute: async () => unavailable });
  const request = { webhookId: 'wh-1', acceptedAt: 0, repeated: false, lengthMs: 20 };
  expect(await Promise.all([slots.reserve(request), slots.reserve(request)])).toEqual([
    unavailable,
    unavailable,
  ]);
});
