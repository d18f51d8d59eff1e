import { newId } from '../../../domain/ids';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { addOrganization } from '../../support/webhooks';
import { type Json, refused, useOperations } from './operations';

const url = 'https://hooks.customer.com/wallet?tenant=1';

const { region, invoke, run } = useOperations();
let organizationId: string;
beforeEach(async () => {
  organizationId = await addOrganization(region.owner);
});

const add = async (change: Json = {}) => {
  const { webhookId } = await run('add-webhook', { organizationId, url, ...change });
  return String(webhookId);
};
const wanting = async (kind: string) => {
  const event = { id: 'e', organizationId, kind, text: '{}' };
  const subscriptions = createSubscriptions(region.as('fan_out_event'));
  const subscribers = await subscriptions.findSubscribers({ event, acceptedAt: Date.now() });
  return subscribers.ok ? subscribers.value.map(({ webhookId }) => webhookId) : subscribers;
};

describe('add-webhook', () => {
  it('adds an enabled webhook for all kinds, with its first secret', async () => {
    const webhookId = await add();
    expect(webhookId).toMatch(/^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/);
    expect(await wanting('any.kind')).toEqual([webhookId]);
    expect(await run('describe-webhook', { webhookId })).toEqual({
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

  it('adds one for some kinds, without duplicates', async () => {
    const kinds = ['wallet.created', 'null', 'a/b:c_d-e', 'wallet.created'];
    const webhookId = await add({ kinds });
    expect(await run('describe-webhook', { webhookId })).toMatchObject({ kinds: kinds.slice(0, 3) });
    expect(await wanting('null')).toEqual([webhookId]);
    expect(await wanting('wallet.deleted')).toEqual([]);
  });

  it('normalizes the URL', async () => {
    const webhookId = await add({ url: ' https://HOOKS.Customer.com:443/a b ' });
    expect(await run('describe-webhook', { webhookId })).toMatchObject({
      url: 'https://hooks.customer.com/a%20b',
    });
  });

  it.each([
    ['scheme_not_https', 'http://127.0.0.1:8010/'],
    ['address_instead_of_name', 'https://169.254.169.254/'],
    ['url_too_long', `https://hooks.customer.com/${'é'.repeat(700)}`],
  ])('returns %s for a URL that delivery would refuse', async (code, refusedUrl) => {
    expect(await invoke('add-webhook', { organizationId, url: refusedUrl })).toEqual(refused(code));
  });

  it('allows a receiver on this machine in a local environment', async () => {
    const input = { organizationId, url: 'http://127.0.0.1:8010/' };
    expect(await invoke('add-webhook', input, true)).toMatchObject({ ok: true });
  });

  it('refuses the 51st enabled webhook; fifty of the largest fit one response', async () => {
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
    const { webhooks } = await run('list-webhooks', { organizationId });
    expect(webhooks).toHaveLength(50);
    expect((webhooks as Json[]).every(({ enabled }) => enabled)).toBe(true);
  });
});

it('list-webhooks lists the webhooks of one organization, latest first', async () => {
  expect(await run('list-webhooks', { organizationId })).toEqual({ webhooks: [] });
  const first = await add();
  await region.query`update webhooks set created_at = created_at - interval '1 minute'`;
  const second = await add();
  await add({ organizationId: await addOrganization(region.owner) });
  expect(await run('list-webhooks', { organizationId })).toMatchObject({
    webhooks: [{ webhookId: second }, { webhookId: first }],
  });
});

describe('rotate-webhook-secret', () => {
  const rotate = (webhookId: string, change: Json = {}) =>
    invoke('rotate-webhook-secret', { webhookId, ...change });

  it('returns the next version, and when the previous one stops signing', async () => {
    const webhookId = await add();
    const { rotatedAt, previousSignsUntil, ...rest } = await run('rotate-webhook-secret', { webhookId });
    expect(rest).toEqual({ webhookId, secretVersion: 2 });
    expect(Date.parse(String(previousSignsUntil)) - Date.parse(String(rotatedAt))).toBe(24 * 3_600_000);
    const found = await createWebhooks(region.as('deliver_webhook')).find(webhookId);
    expect(found).toMatchObject({ ok: true, value: { secretVersion: 2, rotatedAt: expect.any(Number) } });
  });

  it('refuses another rotation while the previous secret signs, unless `again` is set', async () => {
    const webhookId = await add();
    await rotate(webhookId);
    expect(await rotate(webhookId)).toEqual(refused('rotation_running', expect.stringContaining('until')));
    expect(await run('describe-webhook', { webhookId })).toMatchObject({ secretVersion: 2 });
    expect(await rotate(webhookId, { again: true })).toMatchObject({ result: { secretVersion: 3 } });
  });

  it('rotates again after 24 h', async () => {
    const webhookId = await add();
    await rotate(webhookId);
    await region.query`
        update webhooks set rotated_at = rotated_at - interval '24 hours' where webhook_id = ${webhookId}`;
    expect(await rotate(webhookId)).toMatchObject({ result: { secretVersion: 3 } });
  });

  it('rotates once for two concurrent requests', async () => {
    const webhookId = await add();
    const answers = await Promise.all([rotate(webhookId), rotate(webhookId)]);
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect(await run('describe-webhook', { webhookId })).toMatchObject({ secretVersion: 2 });
  });
});

describe('disable-webhook and enable-webhook', () => {
  it('stop and resume deliveries', async () => {
    const webhookId = await add();
    expect(await run('disable-webhook', { webhookId })).toEqual({
      ...{ webhookId, organizationId, enabled: false, disabledReason: 'operator' },
      disabledAt: expect.stringMatching(/Z$/),
    });
    expect(await wanting('any.kind')).toEqual([]);
    expect(await run('enable-webhook', { webhookId })).toEqual({
      webhookId,
      enabled: true,
      disabledReason: null,
    });
    expect(await wanting('any.kind')).toEqual([webhookId]);
  });

  it('do not overwrite an earlier reason', async () => {
    const webhookId = await add();
    const gone = await createWebhooks(region.as('deliver_webhook')).disable(webhookId, url, 'gone');
    const disabledAt = new Date((gone.ok && gone.value?.disabledAt) || 0).toISOString();
    const again = await run('disable-webhook', { webhookId });
    expect(again).toMatchObject({ disabledReason: 'gone', disabledAt });
    expect(await run('describe-webhook', { webhookId })).toMatchObject({
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
])('%s refuses an unknown webhook', async (operation) => {
  const webhookId = newId('wh');
  expect(await invoke(operation, { webhookId })).toEqual(
    refused('webhook_not_found', expect.stringContaining(`${webhookId} in environment test`)),
  );
});

describe('update-webhook', () => {
  it('changes only the given fields', async () => {
    const webhookId = await add({ kinds: ['wallet.created'] });
    const moved = await run('update-webhook', { webhookId, url: ' https://HOOKS.customer.com/2' });
    expect(moved).toMatchObject({
      webhookId,
      url: 'https://hooks.customer.com/2',
      kinds: ['wallet.created'],
    });
    const kinds = ['key.created', 'key.deleted'];
    expect(await run('update-webhook', { webhookId, kinds })).toMatchObject({ url: moved.url, kinds });
    expect(await run('update-webhook', { webhookId, kinds: null })).toMatchObject({ kinds: null });
    expect(await run('describe-webhook', { webhookId })).toMatchObject({ url: moved.url, kinds: null });
  });

  it('changes nothing when delivery would refuse the URL', async () => {
    const webhookId = await add();
    const wrong = { webhookId, url: 'https://10.0.0.1/', kinds: ['a'] };
    expect(await invoke('update-webhook', wrong)).toEqual(refused('address_instead_of_name'));
    expect(await run('describe-webhook', { webhookId })).toMatchObject({ url, kinds: null });
  });
});

it('remove-webhook removes only one webhook', async () => {
  const [webhookId, other] = [await add(), await add()];
  expect(await run('remove-webhook', { webhookId })).toEqual({ webhookId, organizationId });
  expect(await run('list-webhooks', { organizationId })).toMatchObject({
    webhooks: [{ webhookId: other }],
  });
  expect(await invoke('remove-webhook', { webhookId })).toEqual(refused('webhook_not_found'));
});

it.each(['add-webhook', 'list-webhooks'])('%s refuses an unknown organization', async (operation) => {
  const unknown = { organizationId: newId('or'), ...(operation === 'add-webhook' && { url }) };
  expect(await invoke(operation, unknown)).toEqual(
    refused(
      'organization_not_found',
      expect.stringContaining(`${unknown.organizationId} in environment test`),
    ),
  );
});
