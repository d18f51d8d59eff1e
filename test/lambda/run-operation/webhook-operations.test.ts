import { newId } from '../../../domain/ids';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { addOrganization } from '../../support/webhooks';
import { refused, useOperations } from './operations';

type Json = Readonly<Record<string, unknown>>;

const url = 'https://hooks.customer.com/wallet?tenant=1';

const { region, invoke, done } = useOperations();
let organizationId: string;
beforeEach(async () => {
  organizationId = await addOrganization(region.owner);
});

const add = async (change: Json = {}) => {
  const { webhookId } = await done('add-webhook', { organizationId, url, ...change });
  return String(webhookId);
};
const wanting = async (kind: string) => {
  const event = { id: 'e', organizationId, kind, text: '{}' };
  const subscriptions = createSubscriptions(region.as('fan_out_event'));
  const subscribers = await subscriptions.findSubscribers({ event, acceptedAt: Date.now() });
  return subscribers.ok ? subscribers.value.map(({ webhookId }) => webhookId) : subscribers;
};

describe('add-webhook', () => {
  it('adds one that wants all kinds, enabled, with its first secret', async () => {
    const webhookId = await add();
    expect(webhookId).toMatch(/^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/);
    expect(await wanting('any.kind')).toEqual([webhookId]);
    expect(await done('describe-webhook', { webhookId })).toEqual({
      webhookId,
      organizationId,
      url,
      kinds: null,
      enabled: true,
      disabledReason: null,
      disabledAt: null,
      secretVersion: 1,
      rotatedAt: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });

  it('adds one that wants some kinds, each once, whatever they are called', async () => {
    const kinds = ['wallet.created', 'null', 'a/b:c_d-e', 'wallet.created'];
    const webhookId = await add({ kinds });
    expect(await done('describe-webhook', { webhookId })).toMatchObject({ kinds: kinds.slice(0, 3) });
    expect(await wanting('null')).toEqual([webhookId]);
    expect(await wanting('wallet.deleted')).toEqual([]);
  });

  it('keeps the URL as the URL standard writes it', async () => {
    const webhookId = await add({ url: ' https://HOOKS.Customer.com:443/a b ' });
    expect(await done('describe-webhook', { webhookId })).toMatchObject({
      url: 'https://hooks.customer.com/a%20b',
    });
  });

  it.each([
    ['scheme_not_https', 'http://127.0.0.1:8010/'],
    ['address_instead_of_name', 'https://169.254.169.254/'],
    ['url_too_long', `https://hooks.customer.com/${'é'.repeat(700)}`],
  ])('refuses with %s a URL that delivery would refuse', async (code, refusedUrl) => {
    expect(await invoke('add-webhook', { organizationId, url: refusedUrl })).toEqual(refused(code));
  });

  it('takes a receiver on this machine where the local environment permits it', async () => {
    const input = { organizationId, url: 'http://127.0.0.1:8010/' };
    expect(await invoke('add-webhook', input, true)).toMatchObject({ ok: true });
  });

  it.each([
    ['no kinds', []],
    ['a kind with a comma', ['a,b']],
    ['a kind that is no text', [1]],
    ['101 kinds', Array.from({ length: 101 }, (_, index) => `kind${index}`)],
    ['text', 'wallet.created'],
  ])('refuses %s', async (_, kinds) => {
    expect(await invoke('add-webhook', { organizationId, url, kinds })).toEqual(
      refused('input_invalid', expect.stringContaining('"kinds" must be 1 to 100 kinds')),
    );
  });

  it('refuses one enabled webhook too many; all of them fit one answer, as long as they may be', async () => {
    const kinds = JSON.stringify(Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(128, 'k')));
    await region.query`
        insert into webhooks (webhook_id, organization_id, url, kinds, enabled, disabled_reason, disabled_at)
        select 'wh-' || substr(id, 1, 5) || '-' || substr(id, 6, 5) || '-' || substr(id, 11, 16), ${organizationId},
          rpad(${url}, 2048, 'x'), (select array_agg(kind) from jsonb_array_elements_text(${kinds}::jsonb) kind),
          number <= 49, case when number > 49 then 'gone' end, case when number > 49 then now() end
        from generate_series(1, 60) number, md5(${organizationId} || number) id`;
    await add();
    expect(await invoke('add-webhook', { organizationId, url })).toEqual(
      refused('too_many_webhooks', expect.stringContaining('50 enabled webhooks')),
    );
    const { webhooks } = await done('list-webhooks', { organizationId });
    expect(webhooks).toHaveLength(50);
    expect((webhooks as Json[]).every(({ enabled }) => enabled)).toBe(true);
  });

  it('refuses an organization that does not exist, and names the environment', async () => {
    const absent = newId('or');
    expect(await invoke('add-webhook', { organizationId: absent, url })).toEqual(
      refused('organization_not_found', expect.stringContaining(`${absent} in environment test`)),
    );
  });
});

it('list-webhooks lists those of one organization, the latest first', async () => {
  const first = await add();
  await region.query`update webhooks set created_at = created_at - interval '1 minute'`;
  const second = await add();
  organizationId = await addOrganization(region.owner);
  const other = await add();
  const { webhooks } = await done('list-webhooks', { organizationId });
  expect(webhooks).toMatchObject([{ webhookId: other }]);
  const { organizationId: earlier } = await done('describe-webhook', { webhookId: first });
  expect(await done('list-webhooks', { organizationId: earlier })).toMatchObject({
    webhooks: [{ webhookId: second }, { webhookId: first }],
  });
});

describe('rotate-webhook-secret', () => {
  const rotate = (webhookId: string, change: Json = {}) =>
    invoke('rotate-webhook-secret', { webhookId, ...change });

  it('gives the next secret, and delivery signs by both for 24 h', async () => {
    const webhookId = await add();
    const before = Date.now();
    const { rotatedAt, previousSignsUntil, ...rest } = await done('rotate-webhook-secret', { webhookId });
    expect(rest).toEqual({ webhookId, secretVersion: 2 });
    expect(Math.abs(Date.parse(String(rotatedAt)) - before)).toBeLessThan(10_000);
    expect(Date.parse(String(previousSignsUntil)) - Date.parse(String(rotatedAt))).toBe(24 * 3_600_000);
    const found = await createWebhooks(region.as('deliver_webhook')).find(webhookId);
    expect(found).toMatchObject({ ok: true, value: { secretVersion: 2, rotatedAt: expect.any(Number) } });
  });

  it('refuses another rotation while the older secret signs, unless told that it may end', async () => {
    const webhookId = await add();
    await rotate(webhookId);
    expect(await rotate(webhookId)).toEqual(refused('rotation_running', expect.stringContaining('until')));
    expect(await done('describe-webhook', { webhookId })).toMatchObject({ secretVersion: 2 });
    expect(await rotate(webhookId, { again: true })).toMatchObject({ result: { secretVersion: 3 } });
  });

  it('rotates again when 24 h have passed', async () => {
    const webhookId = await add();
    await rotate(webhookId);
    await region.query`
        update webhooks set rotated_at = rotated_at - interval '24 hours' where webhook_id = ${webhookId}`;
    expect(await rotate(webhookId)).toMatchObject({ result: { secretVersion: 3 } });
  });

  it('rotates once of two that are asked for at once', async () => {
    const webhookId = await add();
    const answers = await Promise.all([rotate(webhookId), rotate(webhookId)]);
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect(await done('describe-webhook', { webhookId })).toMatchObject({ secretVersion: 2 });
  });
});

describe('disable-webhook and enable-webhook', () => {
  it('end and resume what is delivered', async () => {
    const webhookId = await add();
    expect(await done('disable-webhook', { webhookId })).toEqual({
      ...{ webhookId, organizationId, enabled: false, disabledReason: 'operator' },
      disabledAt: expect.stringMatching(/Z$/),
      changed: true,
    });
    expect(await wanting('any.kind')).toEqual([]);
    expect(await done('enable-webhook', { webhookId })).toEqual({
      webhookId,
      enabled: true,
      disabledReason: null,
    });
    expect(await wanting('any.kind')).toEqual([webhookId]);
  });

  it('keep the reason for which it was disabled before', async () => {
    const webhookId = await add();
    const gone = await createWebhooks(region.as('deliver_webhook')).disable(webhookId, url, 'gone');
    const disabledAt = new Date((gone.ok && gone.value?.disabledAt) || 0).toISOString();
    const again = await done('disable-webhook', { webhookId });
    expect(again).toMatchObject({ disabledReason: 'gone', disabledAt, changed: false });
    expect(await done('describe-webhook', { webhookId })).toMatchObject({
      disabledReason: 'gone',
      disabledAt,
    });
  });
});

it.each([
  'describe-webhook',
  'update-webhook',
  'remove-webhook',
  'rotate-webhook-secret',
  'disable-webhook',
  'enable-webhook',
])('%s refuses a webhook that does not exist, and an invalid id', async (operation) => {
  const webhookId = newId('wh');
  expect(await invoke(operation, { webhookId })).toEqual(
    refused('webhook_not_found', expect.stringContaining(`${webhookId} in environment test`)),
  );
  expect(await invoke(operation, { webhookId: newId('or') })).toEqual(refused('input_invalid'));
});

describe('update-webhook', () => {
  it('changes what it is told, and leaves the rest', async () => {
    const webhookId = await add({ kinds: ['wallet.created'] });
    const moved = await done('update-webhook', { webhookId, url: ' https://HOOKS.customer.com/2' });
    expect(moved).toMatchObject({
      webhookId,
      url: 'https://hooks.customer.com/2',
      kinds: ['wallet.created'],
    });
    const kinds = ['key.created', 'key.deleted'];
    expect(await done('update-webhook', { webhookId, kinds })).toMatchObject({ url: moved.url, kinds });
    expect(await done('update-webhook', { webhookId, kinds: null })).toMatchObject({ kinds: null });
    expect(await done('describe-webhook', { webhookId })).toMatchObject({ url: moved.url, kinds: null });
  });

  it('refuses what delivery would refuse, and changes nothing', async () => {
    const webhookId = await add();
    const wrong = { webhookId, url: 'https://10.0.0.1/', kinds: ['a'] };
    expect(await invoke('update-webhook', wrong)).toEqual(refused('address_instead_of_name'));
    expect(await invoke('update-webhook', { webhookId, kinds: [] })).toEqual(refused('input_invalid'));
    expect(await done('describe-webhook', { webhookId })).toMatchObject({ url, kinds: null });
  });
});

it('remove-webhook removes one, and no other', async () => {
  const [webhookId, other] = [await add(), await add()];
  expect(await done('remove-webhook', { webhookId })).toEqual({ webhookId, organizationId });
  expect(await done('list-webhooks', { organizationId })).toMatchObject({
    webhooks: [{ webhookId: other }],
  });
  expect(await invoke('remove-webhook', { webhookId })).toEqual(refused('webhook_not_found'));
});

it('list-webhooks tells an organization without webhooks from one that does not exist', async () => {
  expect(await done('list-webhooks', { organizationId })).toEqual({ webhooks: [] });
  const absent = newId('or');
  expect(await invoke('list-webhooks', { organizationId: absent })).toEqual(
    refused('organization_not_found', expect.stringContaining(`${absent} in environment test`)),
  );
});

describe('list-delivery-attempts', () => {
  const at = Date.parse('2026-11-20T12:00:00.123Z');
  const failed = { durationMs: 12.4, outcome: 'failed', reason: 'connection_refused' } as const;
  const record = (...attempts: Parameters<ReturnType<typeof createWebhooks>['record']>[0][]) =>
    Promise.all(attempts.map((each) => createWebhooks(region.as('deliver_webhook')).record(each)));

  it('lists the attempts to deliver an event, the latest first, and when it is tried next', async () => {
    const ids = { eventId: 'evt_1', webhookId: newId('wh'), deliveryId: 'msg_1' };
    await record({ ...ids, ...failed, attemptedAt: at, nextAttemptAt: at + 5_000 });
    await record({
      ...ids,
      attemptedAt: at + 5_001,
      durationMs: 12,
      status: 204,
      outcome: 'delivered',
      reason: 'ok',
    });
    await record({ ...ids, ...failed, eventId: 'evt_2', attemptedAt: at });

    const common = { ...ids, durationMs: 12 };
    expect(await done('list-delivery-attempts', { eventId: 'evt_1' })).toEqual({
      attempts: [
        {
          ...common,
          date: '2026-11-20T12:00:05.124Z',
          status: 204,
          outcome: 'delivered',
          reason: 'ok',
          nextAttemptAt: null,
        },
        {
          ...common,
          date: '2026-11-20T12:00:00.123Z',
          status: null,
          outcome: 'failed',
          reason: 'connection_refused',
          nextAttemptAt: '2026-11-20T12:00:05.123Z',
        },
      ],
    });
  });

  it('lists those of a webhook, an outcome and a time', async () => {
    const webhookId = newId('wh');
    const ids = { webhookId, deliveryId: 'msg_1' };
    for (const [index, outcome] of (['failed', 'given_up', 'failed'] as const).entries())
      await record({
        ...ids,
        ...failed,
        outcome,
        eventId: `evt_${index}`,
        attemptedAt: at + index * 1_000,
      });
    await record({ ...ids, ...failed, webhookId: newId('wh'), eventId: 'evt_0', attemptedAt: at });
    const listed = async (input: Json) => {
      const { attempts } = await done<{ attempts: { eventId: string }[] }>('list-delivery-attempts', input);
      return attempts.map(({ eventId }) => eventId);
    };
    expect(await listed({ webhookId })).toEqual(['evt_2', 'evt_1', 'evt_0']);
    expect(await listed({ webhookId, limit: 1 })).toEqual(['evt_2']);
    expect(await listed({ webhookId, outcome: 'given_up' })).toEqual(['evt_1']);
    expect(await listed({ webhookId, eventId: 'evt_0' })).toEqual(['evt_0']);
    const [since, until] = [at + 500, at + 1_000].map((time) => new Date(time).toISOString());
    expect(await listed({ webhookId, since })).toEqual(['evt_2', 'evt_1']);
    expect(await listed({ webhookId, since, until })).toEqual(['evt_1']);
    expect(await listed({ webhookId, until: '2026-11-20T12:00:00+00:00' })).toEqual([]);
  });

  it('refuses an event and a webhook that are not known, and lists nothing of those without an attempt', async () => {
    const webhookId = await add();
    const eventId = 'evt_kept';
    await createSubscriptions(region.as('fan_out_event')).findSubscribers({
      event: { id: eventId, organizationId, kind: 'a', text: '{}' },
      acceptedAt: at,
    });
    expect(await done('list-delivery-attempts', { eventId, webhookId })).toEqual({ attempts: [] });
    const list = (input: Json) => invoke('list-delivery-attempts', input);
    expect(await list({ eventId: 'evt_unknown', webhookId })).toEqual(refused('event_not_found'));
    expect(await list({ eventId, webhookId: newId('wh') })).toEqual(refused('webhook_not_found'));
  });

  it.each([
    { eventId: 'a.b' },
    { outcome: 'lost' },
    { since: 'yesterday' },
    { limit: 1_001 },
    { since: '0000-01-01T00:00:00Z' },
    { until: '9999-12-31T23:59:59-14:00' },
    { outcome: { toString: 1 } },
    { outcome: ['failed'] },
    { limit: 0 },
  ])('refuses %j', async (input) => {
    expect(await invoke('list-delivery-attempts', input)).toEqual(refused('input_invalid'));
  });
});

describe('list-kept-events', () => {
  const time = (second: number) => new Date(Date.UTC(2036, 10, 20, 12, 0, second, 7)).toISOString();
  const keep = (id: string, second: number, kind = 'wallet.created') =>
    createSubscriptions(region.as('fan_out_event')).findSubscribers({
      event: { id, organizationId, kind, text: '{}' },
      acceptedAt: Date.parse(time(second)),
    });
  const list = async (webhookId: string, input: Json = {}) => {
    const all = { webhookId, since: time(0), until: time(59), ...input };
    const { events } = await done<{ events: { eventId: string }[] }>('list-kept-events', all);
    return events.map(({ eventId }) => eventId);
  };
  /** An event's id is of one organization alone in these tests. */
  const own = (id: string) => `${organizationId}_${id}`.slice(3);

  it('lists what the webhook wants, in its order, also from when it was disabled', async () => {
    const webhookId = await add({ kinds: ['wallet.created'] });
    await add();
    await keep(own('b'), 1);
    await done('disable-webhook', { webhookId });
    await keep(own('c'), 2);
    await keep(own('a'), 2);
    await keep(own('d'), 3, 'key.created');
    await keep(own('e'), 4);
    const [a, b, c, e] = ['a', 'b', 'c', 'e'].map(own);
    expect(await list(webhookId)).toEqual([b, a, c, e]);
    expect(await list(webhookId, { since: time(2), until: time(3) })).toEqual([a, c]);
    expect(await list(webhookId, { since: time(2), after: a })).toEqual([c, e]);
    expect(await list(webhookId, { eventId: c })).toEqual([c]);
    expect(await list(webhookId, { limit: 1 })).toEqual([b]);
    const { events } = await done<{ events: Json[] }>('list-kept-events', {
      ...{ webhookId, since: time(0), until: time(59), limit: 1 },
    });
    expect(events).toEqual([{ eventId: b, acceptedAt: time(1) }]);
  });

  it('leaves out on request what was delivered to this webhook', async () => {
    const [webhookId, other] = [await add(), await add()];
    await keep(own('a'), 1);
    await keep(own('b'), 2);
    const attempts = createWebhooks(region.as('deliver_webhook'));
    const attempt = { deliveryId: 'msg_1', attemptedAt: 0, durationMs: 1, reason: 'x' };
    await attempts.record({ ...attempt, webhookId, eventId: own('a'), outcome: 'delivered' });
    await attempts.record({ ...attempt, webhookId, eventId: own('b'), outcome: 'given_up' });
    await attempts.record({ ...attempt, webhookId: other, eventId: own('b'), outcome: 'delivered' });
    expect(await list(webhookId, { undelivered: true })).toEqual([own('b')]);
    expect(await list(webhookId)).toEqual([own('a'), own('b')]);
  });

  it('lists nothing that is older than the webhook', async () => {
    await add();
    await keep(own('a'), 1);
    const webhookId = await add();
    await region.query`update webhooks set created_at = ${time(2)}::timestamptz where webhook_id = ${webhookId}`;
    await keep(own('b'), 3);
    expect(await list(webhookId)).toEqual([own('b')]);
  });

  it("lists nothing of another organization's events", async () => {
    await add();
    await keep(own('a'), 1);
    organizationId = await addOrganization(region.owner);
    expect(await list(await add())).toEqual([]);
  });
});
