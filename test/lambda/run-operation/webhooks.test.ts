import { newId } from '../../../domain/ids';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { ownFacts } from '../../support/organization';
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
const describeWebhook = (webhookId: string) => run('describe-webhook', { webhookId });
const list = async () => (await run<{ webhooks: Json[] }>('list-webhooks', { organizationId })).webhooks;

it('add-webhook adds an enabled webhook with its first secret, a normalized URL and each kind once', async () => {
  const kinds = ['wallet.created', 'null', 'a/b:c_d-e', 'wallet.created'];
  const webhookId = await add({ kinds, url: ' https://HOOKS.Customer.com:443/a b ' });
  expect(webhookId).toMatch(/^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/);
  expect(await describeWebhook(webhookId)).toEqual({
    ...{ webhookId, organizationId, url: 'https://hooks.customer.com/a%20b', kinds: kinds.slice(0, 3) },
    ...{ enabled: true, disabledReason: null, disabledAt: null, secretVersion: 1, rotatedAt: null },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  });
});

it('add-webhook and enable-webhook refuse the 51st enabled webhook; fifty of the largest fit one response', async () => {
  const kinds = JSON.stringify(Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(128, 'k')));
  await region.query`
    insert into webhooks (webhook_id, organization_id, url, kinds, enabled, disabled_reason, disabled_at)
    select 'wh-' || substr(id, 1, 5) || '-' || substr(id, 6, 5) || '-' || substr(id, 11, 16), ${organizationId},
      rpad(${url}, 2048, 'x'), (select array_agg(kind) from jsonb_array_elements_text(${kinds}::jsonb) kind),
      number <= 49, case when number > 49 then 'gone' end, case when number > 49 then now() end
    from generate_series(1, 60) number, md5(${organizationId} || number) id`;
  const disabled = await region.query`
    select webhook_id from webhooks where organization_id = ${organizationId} and not enabled`;
  const answers = await Promise.all([
    invoke('add-webhook', { organizationId, url }),
    ...disabled.map(({ webhook_id: webhookId }) => invoke('enable-webhook', { webhookId })),
    invoke('add-webhook', { organizationId, url }),
  ]);
  // Only one of them fits.
  const others = answers.filter(({ ok }) => !ok);
  expect(others).toEqual(Array(disabled.length + 1).fill(refused('too_many_webhooks')));
  // Enabled already.
  const [first] = await list();
  const again = await invoke('enable-webhook', { webhookId: first?.webhookId });
  expect(again).toMatchObject({ ok: true, result: { enabled: true } });
  expect((await list()).filter(({ enabled }) => enabled)).toHaveLength(50);
});

it.each([
  ['address_instead_of_name', 'https://10.0.0.1/'],
  ['url_too_long', `https://hooks.customer.com/${'é'.repeat(700)}`],
  ['url_of_this_environment', `${ownFacts.apiUrl}/webhook-origins/check/wh-1`],
  ['url_of_this_environment', ownFacts.dashboardUrl.toUpperCase()],
])('returns %s for a URL that delivery would refuse, and changes nothing', async (code, wrong) => {
  const webhookId = await add();
  expect(await invoke('add-webhook', { organizationId, url: wrong })).toEqual(refused(code));
  expect(await invoke('update-webhook', { webhookId, url: wrong, kinds: ['a'] })).toEqual(refused(code));
  expect(await list()).toMatchObject([{ webhookId, url, kinds: null }]);
});

it('add-webhook with `check` leads an ephemeral organization to the environment itself, and no other', async () => {
  const check = (change: Json = {}) => invoke('add-webhook', { organizationId, check: true, ...change });
  expect(await check()).toEqual(refused('organization_not_ephemeral'));
  const seeded = await run('seed', { userGroupName: 'Smoke test', ephemeral: true });
  const added = await run('add-webhook', { organizationId: seeded.organizationId, check: true });
  expect(added.url).toBe(`${ownFacts.apiUrl}/webhook-origins/check/${added.webhookId}`);
  expect(await check({ url })).toEqual(refused('input_invalid'));
  expect(await invoke('add-webhook', { organizationId })).toEqual(refused('input_invalid'));
});

it('update-webhook changes only the given fields', async () => {
  const webhookId = await add({ kinds: ['wallet.created'] });
  const update = (change: Json) => run('update-webhook', { webhookId, ...change });
  const moved = { url: 'https://hooks.customer.com/2', kinds: ['wallet.created'] };
  expect(await update({ url: ' https://HOOKS.customer.com/2' })).toMatchObject(moved);
  const kinds = ['key.created', 'key.deleted'];
  expect(await update({ kinds })).toMatchObject({ url: moved.url, kinds });
  expect(await update({ kinds: null })).toMatchObject({ url: moved.url, kinds: null });
});

it('list-webhooks lists the webhooks of one organization, latest first, until remove-webhook', async () => {
  expect(await list()).toEqual([]);
  const first = await add();
  await region.query`update webhooks set created_at = created_at - interval '1 minute'`;
  const second = await add();
  await add({ organizationId: await addOrganization(region.owner) });
  expect(await list()).toMatchObject([{ webhookId: second }, { webhookId: first }]);
  expect(await run('remove-webhook', { webhookId: first })).toEqual({ webhookId: first, organizationId });
  expect(await list()).toMatchObject([{ webhookId: second }]);
});

it('rotate-webhook-secret refuses another rotation, also a concurrent one, within 24 h, unless `again` is set', async () => {
  const webhookId = await add();
  const rotate = (change: Json = {}) => invoke('rotate-webhook-secret', { webhookId, ...change });
  const advance = (hours: number) => region.query`
    update webhooks set rotated_at = now() - make_interval(secs => ${hours * 3_600}::float8)
    where webhook_id = ${webhookId}`;
  const answers = await Promise.all([rotate(), rotate()]);
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  await advance(23.9);
  expect(await rotate()).toEqual(refused('rotation_running'));
  expect(await rotate({ again: true })).toMatchObject({ result: { secretVersion: 3 } });
  await advance(24.1);
  const { rotatedAt, previousSignsUntil, ...rest } = await run('rotate-webhook-secret', { webhookId });
  expect(rest).toEqual({ webhookId, secretVersion: 4 });
  expect(Date.parse(String(previousSignsUntil)) - Date.parse(String(rotatedAt))).toBe(24 * 3_600_000);
  expect(await describeWebhook(webhookId)).toMatchObject({ secretVersion: 4, rotatedAt });
});

it('disable-webhook disables until enable-webhook, and does not overwrite an earlier reason', async () => {
  const webhookId = await add();
  await createWebhooks(region.as('deliver_webhook')).disable(webhookId, url, 'gone');
  const { disabledAt } = await describeWebhook(webhookId);
  const earlier = { enabled: false, disabledReason: 'gone', disabledAt };
  expect(await run('disable-webhook', { webhookId })).toMatchObject(earlier);
  const enabled = { enabled: true, disabledReason: null, disabledAt: null };
  expect(await run('enable-webhook', { webhookId })).toMatchObject(enabled);
  // Nobody knows yet how fast its receiver is: deliveries take the second lane.
  const health =
    await region.query`select unhealthy_at::text as since from webhooks where webhook_id = ${webhookId}`;
  expect(health).toEqual([{ since: '-infinity' }]);
  const disabled = { enabled: false, disabledReason: 'operator', disabledAt: expect.stringMatching(/Z$/) };
  expect(await run('disable-webhook', { webhookId })).toMatchObject(disabled);
});

it.each([
  ['describe-webhook', 'webhook'],
  ['remove-webhook', 'webhook'],
  ['rotate-webhook-secret', 'webhook'],
  ['add-webhook', 'organization'],
  ['list-webhooks', 'organization'],
])('%s refuses an unknown %s', async (operation, noun) => {
  const id = newId(noun === 'webhook' ? 'wh' : 'or');
  const input = { [`${noun}Id`]: id, ...(operation === 'add-webhook' && { url }) };
  const message = expect.stringContaining(`${id} in environment test`);
  expect(await invoke(operation, input)).toEqual(refused(`${noun}_not_found`, message));
});
