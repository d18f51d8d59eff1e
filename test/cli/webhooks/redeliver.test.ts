import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SQSRecord } from 'aws-lambda';
import type { DeadLetter, DeadLetterQueue } from '../../../cli/redeliver/dead-letter-queue';
import type { Decision } from '../../../cli/redeliver/decision';
import { type RunOptions, redeliverAll } from '../../../cli/redeliver/run';
import { type Delivery, deliveryId, parseDelivery, writeDelivery } from '../../../domain/delivery';
import { newId } from '../../../domain/ids';
import { sql } from '../../../lambda/database/sql';
import { readMessage } from '../../../lambda/fan-out-event/request';
import { rows } from '../../support/organization';
import { first } from '../../support/rows';
import { addOrganization, addWebhook, disableWebhook, eventText } from '../../support/webhooks';
import { wallet } from '../region';
import { startWebhookRegion, type WebhookRegion } from './webhook-region';

let region: WebhookRegion;
let organizationId: string;
let webhookId: string;
beforeAll(async () => {
  region = await startWebhookRegion();
});
beforeEach(async () => {
  await region.emptyQueues();
  organizationId = await addOrganization(region.owner);
  webhookId = await addWebhook(region.owner, organizationId);
});
afterAll(() => region.stop());

const delivery = (eventId: string, change: Partial<Delivery> = {}): Delivery => ({
  deliveryId: deliveryId(eventId, webhookId),
  webhookId,
  eventId,
  acceptedAt: 1_700_000_000_000,
  body: eventText(organizationId, eventId),
  ...change,
});
const giveUp = (given: Delivery, reason = 'server_error') =>
  region.deliveryDeadLetters.send(writeDelivery(given), reason);
const bodies = async (queue: 'deliveries' | 'deliveryDeadLetters' | 'events' | 'eventsDeadLetters') =>
  (await region[queue].receive()).map(({ body }) => body);
const redeliver = (...args: string[]) =>
  region.json<{ redelivered: number; kept: number; outcomes: unknown[] }>('redeliver', ...args);

it('sends what was given up again, as it was, and deletes it', async () => {
  const given = delivery('evt_1', { body: '{"wei": 12345678901234567890, "ä": "\\u00e4"}' });
  await giveUp(given);
  expect(await redeliver()).toEqual({
    redelivered: 1,
    kept: 0,
    dryRun: false,
    interrupted: false,
    outcomes: [{ webhookId, reason: 'server_error', keptBecause: null, messages: 1 }],
  });
  expect((await bodies('deliveries')).map(parseDelivery)).toEqual([{ ok: true, value: given }]);
  expect(await region.deliveryDeadLetters.count()).toMatchObject({ visible: 0, hidden: 0 });
});

it('drops the times of earlier attempts from what SQS itself moved, so that its 72 hours restart', async () => {
  await region.deliveryDeadLetters.send(writeDelivery(delivery('evt_1', { startedAt: 1, notBefore: 2 })));
  expect(await redeliver()).toMatchObject({ redelivered: 1, outcomes: [{ reason: null }] });
  expect((await bodies('deliveries')).map(parseDelivery)).toEqual([{ ok: true, value: delivery('evt_1') }]);
});

it('leaves what would be dropped or cannot be read, in sight of the next run', async () => {
  const disabled = await addWebhook(region.owner, organizationId);
  await disableWebhook(region.owner, disabled);
  const removed = newId('wh');
  await giveUp(delivery('evt_1', { webhookId: disabled }), 'gone');
  await giveUp(delivery('evt_2', { webhookId: removed }));
  const { acceptedAt: _, ...incomplete } = delivery('evt_3');
  const unreadables = ['{', 'null', '{"webhookId":1}', '{"webhookId":"wh-1"}', JSON.stringify(incomplete)];
  for (const unreadable of unreadables)
    await region.deliveryDeadLetters.send(unreadable, 'The message is not a delivery.');
  for (let run = 0; run < 2; run++) {
    const { redelivered, kept, outcomes } = await redeliver();
    expect({ redelivered, kept }).toEqual({ redelivered: 0, kept: 7 });
    expect(outcomes).toHaveLength(3);
    expect(outcomes).toEqual(
      expect.arrayContaining([
        { webhookId: disabled, reason: 'gone', keptBecause: 'its webhook is disabled', messages: 1 },
        expect.objectContaining({ webhookId: removed, keptBecause: 'its webhook is removed' }),
        expect.objectContaining({ webhookId: null, keptBecause: 'it is not a delivery', messages: 5 }),
      ]),
    );
  }
  expect(await region.deliveryDeadLetters.count()).toMatchObject({ visible: 7, hidden: 0 });
  expect(await bodies('deliveries')).toEqual([]);
});

it('keeps what the queue refuses', async () => {
  await giveUp(delivery('evt_1'));
  const outputs = JSON.parse(await readFile(region.outputs, 'utf8'));
  outputs[first.stackId].WebhookDeliveryQueueUrl += '-gone';
  const file = join(dirname(region.outputs), 'gone.json');
  await writeFile(file, JSON.stringify(outputs));
  const printed = await wallet('redeliver', '--outputs', file);
  expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
  expect(printed.stderr).toContain('sqs:SendMessage failed');
  expect(await region.deliveryDeadLetters.count()).toMatchObject({ visible: 0, hidden: 1 });
});

it('sends to one webhook alone, and leaves the others', async () => {
  const other = await addWebhook(region.owner, organizationId);
  await giveUp(delivery('evt_1'));
  await giveUp(delivery('evt_1', { webhookId: other }));
  await region.deliveryDeadLetters.send('{', 'The message is not JSON.');
  expect(await redeliver('--webhook', webhookId)).toMatchObject({ redelivered: 1, kept: 0 });
  expect(await bodies('deliveries')).toEqual([writeDelivery(delivery('evt_1'))]);
  expect(await region.deliveryDeadLetters.count()).toMatchObject({ visible: 2 });
});

it('sends nothing in a dry run, and tells by webhook and reason what it would send', async () => {
  for (const eventId of ['evt_1', 'evt_2', 'evt_3'])
    await giveUp(delivery(eventId), eventId === 'evt_3' ? 'timeout' : 'server_error');
  const { stdout, stderr } = await region.wallet('redeliver', '--dry-run');
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toMatch(/^WEBHOOK +REASON +MESSAGES$/);
  expect(lines.slice(1).sort()).toEqual([
    `${webhookId}  server_error  2         would be sent`,
    `${webhookId}  timeout       1         would be sent`,
  ]);
  expect(stderr).toContain('about 3 messages');
  expect(stderr).toContain('Would redeliver 3, left 0.');
  expect(await bodies('deliveries')).toEqual([]);
  expect(await region.deliveryDeadLetters.count()).toMatchObject({ visible: 3, hidden: 0 });
});

it('sends no more than its limit', async () => {
  for (let index = 0; index < 25; index++) await giveUp(delivery(`evt_${index}`));
  expect(await redeliver('--limit', '12')).toMatchObject({ redelivered: 12 });
  expect(await region.deliveryDeadLetters.count()).toMatchObject({ visible: 13, hidden: 0 });
  expect(await redeliver()).toMatchObject({ redelivered: 13 });
});

it('takes a webhook that was enabled again into the next run', async () => {
  await disableWebhook(region.owner, webhookId);
  await giveUp(delivery('evt_1'));
  expect(await redeliver()).toMatchObject({ redelivered: 0, kept: 1 });
  await rows(region.owner, sql`update webhooks set enabled = true, disabled_reason = null`);
  expect(await redeliver()).toMatchObject({ redelivered: 1, kept: 0 });
});

it('sends events again that SQS moved, and leaves those that could not be read', async () => {
  const event = eventText(organizationId, 'evt_1');
  await region.eventsDeadLetters.send(event);
  await region.eventsDeadLetters.send('{"id":1}', 'The event lacks: kind.');
  await region.eventsDeadLetters.send('null');
  const { redelivered, kept, outcomes } = await redeliver('--from', 'events');
  expect({ redelivered, kept }).toEqual({ redelivered: 1, kept: 2 });
  expect(outcomes).toContainEqual({
    webhookId: null,
    reason: 'The event lacks: kind.',
    keptBecause: 'it cannot be read',
    messages: 1,
  });
  expect(await bodies('events')).toEqual([event]);
});

describe('of the events that are kept', () => {
  const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;
  const keep = async (count: number, minutes = 10) => {
    const ids = Array.from({ length: count }, (_, index) => `evt_${organizationId}_${index}`.slice(0, 64));
    for (const [index, id] of ids.entries())
      await rows(
        region.owner,
        sql`
        insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
        values (${id}, ${organizationId}, 'wallet.created',
          to_timestamp(${minutesAgo(minutes) + index}::float8 / 1000), '{}')`,
      );
    return ids;
  };
  const asked = async () => {
    const ids: string[] = [];
    for (let batch = await bodies('events'); batch.length > 0; batch = await bodies('events'))
      ids.push(...batch.map((body) => JSON.parse(body).redeliver).map(({ eventId }) => eventId));
    return ids;
  };
  const again = (...args: string[]) => redeliver('--webhook', webhookId, ...args);

  it('asks for one, as the fan-out reads it', async () => {
    const [eventId = ''] = await keep(2);
    expect(await again('--event', eventId)).toEqual({
      redelivered: 1,
      kept: 0,
      dryRun: false,
      interrupted: false,
      outcomes: [{ webhookId, reason: 'asked for', keptBecause: null, messages: 1 }],
    });
    const [message, ...others] = await region.events.receive();
    expect(others).toEqual([]);
    expect(readMessage(message as SQSRecord)).toEqual({ ok: true, value: { eventId, webhookId } });
  });

  it('asks for all since a time, up to a time, as many as are asked for', async () => {
    const ids = await keep(12);
    expect(await again('--since', '5m')).toMatchObject({ redelivered: 0 });
    expect(await again('--since', '1h', '--until', '30m')).toMatchObject({ redelivered: 0 });
    expect(await again('--since', '1h', '--dry-run')).toMatchObject({ redelivered: 12, dryRun: true });
    expect(await asked()).toEqual([]);
    expect(await again('--since', '1h', '--limit', '11')).toMatchObject({ redelivered: 11 });
    expect((await asked()).sort()).toEqual(ids.slice(0, 11).sort());
    const since = new Date(minutesAgo(60)).toISOString();
    expect(await again('--since', since)).toMatchObject({ redelivered: 12 });
    expect((await asked()).sort()).toEqual([...ids].sort());
  });

  it('asks for each once, however many pages there are', async () => {
    await rows(
      region.owner,
      sql`
      insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
      select ${organizationId} || '_' || number, ${organizationId}, 'a', date_trunc('milliseconds', now() - interval '1 hour'), '{}'
      from generate_series(1, 2005) number`,
    );
    expect(await again('--since', '2h')).toMatchObject({ redelivered: 2_005 });
    expect(new Set(await asked()).size).toBe(2_005);
  });

  it('leaves out on request what was delivered', async () => {
    const [delivered, other] = await keep(2);
    await rows(
      region.owner,
      sql`
      insert into webhook_attempts (event_id, webhook_id, delivery_id, attempted_at, duration_ms, outcome, reason)
      values (${delivered ?? ''}, ${webhookId}, 'msg_1', now(), 1, 'delivered', 'ok')`,
    );
    expect(await again('--since', '1h', '--undelivered')).toMatchObject({ redelivered: 1 });
    expect(await asked()).toEqual([other]);
  });

  it('fails for an event that is not kept, and for a disabled webhook', async () => {
    const [eventId = ''] = await keep(1);
    const run = (...args: string[]) => region.wallet('redeliver', '--webhook', webhookId, ...args);
    const unknown = await run('--event', 'evt_unknown');
    expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
    expect(unknown.stderr).toContain(`No event evt_unknown that ${webhookId} wants is kept`);
    await disableWebhook(region.owner, webhookId);
    const disabled = await run('--event', eventId);
    expect(disabled).toMatchObject({ exitCode: 1, stdout: '' });
    expect(disabled.stderr).toContain(`webhook enable --webhook ${webhookId}`);
    expect(await asked()).toEqual([]);
  });

  it.each([
    ['--event', 'evt_1'],
    ['--since', '1h'],
    ['--from', 'events', '--since', '1h'],
    ['--until', '1h'],
    ['--undelivered'],
  ])('is used wrongly with %s %s alone', async (...args) => {
    expect(await region.wallet('redeliver', ...args)).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

it('says that there is nothing to do', async () => {
  const printed = await region.wallet('redeliver');
  expect(printed).toMatchObject({ exitCode: 0, stdout: '' });
  expect(printed.stderr).toContain('Redelivered 0, left 0.');
});

describe('a run that ends early', () => {
  const letters = (count: number): DeadLetter[] =>
    Array.from({ length: count }, (_, index) => ({
      messageId: `m${index}`,
      receiptHandle: `r${index}`,
      body: '{}',
      sentAt: 1_000,
    }));

  /** A queue of which every call is seen. */
  function watchedQueue(all: readonly DeadLetter[], change: Partial<DeadLetterQueue> = {}) {
    const waiting = [...all];
    const calls: string[] = [];
    const queue: DeadLetterQueue = {
      count: async () => waiting.length,
      receive: async (limit) => waiting.splice(0, Math.min(limit, 2)),
      redeliver: async ({ messageId }) => void calls.push(`redeliver ${messageId}`),
      putBack: async ({ messageId }) => void calls.push(`put back ${messageId}`),
      ...change,
    };
    return { queue, calls, waiting };
  }
  const send = async (): Promise<Decision> => ({
    kind: 'redeliver',
    redelivery: { body: '{}', group: 'g' },
  });
  const keep = async (): Promise<Decision> => ({ kind: 'keep', because: 'x' });
  const run = (queue: DeadLetterQueue, decide: RunOptions['decide'], more: Partial<RunOptions> = {}) => {
    const { signal } = new AbortController();
    const limit = Number.POSITIVE_INFINITY;
    return redeliverAll({ queue, decide, dryRun: false, limit, signal, onProgress: () => {}, ...more });
  };

  it('by Ctrl-C finishes what it has in hand, and puts back what it does not send', async () => {
    const { queue, calls, waiting } = watchedQueue(letters(6));
    const interruption = new AbortController();
    const decide = async ({ messageId }: DeadLetter) => {
      if (messageId === 'm3') interruption.abort();
      return messageId === 'm0' ? keep() : send();
    };
    await run(queue, decide, { signal: interruption.signal });
    expect(calls).toEqual(['redeliver m1', 'redeliver m2', 'redeliver m3', 'put back m0']);
    expect(waiting).toHaveLength(2);
  });

  it('by a failure puts back what it does not send, and tells the failure', async () => {
    const { queue, calls } = watchedQueue(letters(4), {
      redeliver: async () => Promise.reject(new Error('SQS is away')),
    });
    const decide = ({ messageId }: DeadLetter) => (messageId === 'm1' ? keep() : send());
    await expect(run(queue, decide)).rejects.toThrow('SQS is away');
    expect(calls).toEqual(['put back m1']);
  });

  it('ends though what it sends returns at once, each time as a new message', async () => {
    let sent = 0;
    const [letter] = letters(1) as [DeadLetter];
    const { queue, calls } = watchedQueue([], {
      receive: async () => {
        sent += 1;
        return sent > 50 ? [] : [{ ...letter, messageId: `m${sent}`, sentAt: 1_000 + sent }];
      },
    });
    await run(queue, send, { now: () => 1_001 });
    expect(calls.filter((call) => call.startsWith('redeliver'))).toEqual(['redeliver m1']);
  });

  it('ends when messages that it left come round again', async () => {
    const [only] = letters(1) as [DeadLetter];
    const { queue } = watchedQueue([], { receive: async () => [only] });
    expect(await run(queue, keep)).toEqual([
      { webhookId: null, reason: null, keptBecause: 'x', messages: 1 },
    ]);
  });
});
