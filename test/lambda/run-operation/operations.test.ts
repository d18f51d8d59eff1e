import { newId } from '../../../domain/ids';
import { inputs } from '../../../domain/operations';
import { probe } from '../../../domain/probe';
import { ok } from '../../../domain/result';
import { sql } from '../../../lambda/database/database';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { createHandler } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { deletionOf, type Organization, ownFacts } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';
import { addOrganization } from '../../support/webhooks';

type Json = Readonly<Record<string, unknown>>;

const [region, readOnly] = [useMigratedDatabase(), useMigratedDatabase()];
const log = recordLog();
let organizationId: string;
beforeEach(async () => {
  organizationId = await addOrganization(region.owner);
});

/** Webhooks of another organization, which no operation of these tests may change. */
const others = () => region.query`
  select to_jsonb(webhooks)::text from webhooks where url like '%/others' order by webhook_id`;
let unchanged: Awaited<ReturnType<typeof others>>;
beforeAll(async () => {
  const another = await addOrganization(region.owner);
  await region.query`
    insert into webhooks (webhook_id, organization_id, url, kinds, secret_version, rotated_at, enabled, disabled_reason,
      disabled_at, unhealthy_at, paused_until, pause_reason, pause_seconds, failures)
    values
      (${newId('wh')}, ${another}, 'https://a/others', array['a'], 2, now() - interval '2 days', true, null, null, null,
        now(), 'no_response', 30, 5),
      (${newId('wh')}, ${another}, 'https://b/others', null, 1, null, false, 'gone', now(), now(), null, null, null, 0)`;
  unchanged = await others();
});
afterEach(async () => expect(await others()).toEqual(unchanged));

const invoke = (operation: string, input: Json, { as } = region) => {
  const ports = { database: as('run_operation'), ...ownFacts };
  return createHandler({ ports, log })({ operation, input });
};
/** The result of an operation that must succeed. */
const run = async <Result = Json>(operation: string, input: Json): Promise<Result> => {
  const response = await invoke(operation, input);
  if (!response.ok) throw new Error(response.error.message);
  return response.result as Result;
};
const refused = (code: string, message = expect.any(String)) => ({ ok: false, error: { code, message } });

const seed = (ephemeral = false) => run<Organization>('seed', { userGroupName: 'Approvers', ephemeral });

const remove = (organizationId: string) => invoke('remove-ephemeral-organizations', { organizationId });

it('remove-ephemeral-organizations removes the organization with its rows, and those older than a day', async () => {
  const make = async (ephemeral = true) => (await seed(ephemeral)).organizationId;
  const [named, old, recent, real] = [await make(), await make(), await make(), await make(false)];
  await region.query`
    update organizations set created_at = now() - interval '25 hours' where organization_id in (${old}, ${real})`;
  const removed = expect.arrayContaining([named, old]);
  expect(await remove(named)).toEqual({ ok: true, result: { removed } });
  expect(await remove(named)).toEqual({ ok: true, result: { removed: [] } });
  expect(await remove(real)).toEqual(refused('organization_not_ephemeral'));
  // Their rows keep them from being removed alone.
  const left = await region.query`
    select organization_id as id from organizations where organization_id in (${named}, ${old}, ${recent}, ${real})`;
  expect(left.map(({ id }) => id).sort()).toEqual([recent, real].sort());
});

it('describe-identity returns organization and kind; operations are logged without their input', async () => {
  const { organizationId, endUserId: identityId } = await seed();
  const operation = 'describe-identity';
  log.clear();
  const identity = { identityId, organizationId, kind: 'EndUser', active: true };
  expect(await run(operation, { identityId })).toEqual(identity);
  expect(await invoke(operation, { identityId: newId('us') })).toEqual(refused('identity_not_found'));
  expect(log.lines).toEqual([
    { message: 'Operation completed', logCode: 'OPERATION_COMPLETED', operation },
    { message: 'Operation refused', logCode: 'OPERATION_REFUSED', operation, code: 'identity_not_found' },
  ]);
});

it('list-audit-records lists those of a group, latest first, even if its organization was removed', async () => {
  const organization = await seed(true);
  const { organizationId, callerId: identityId, userGroupId, userGroupName: subjectName } = organization;
  const listRecords = (id = userGroupId) => invoke('list-audit-records', { userGroupId: id });
  expect(await listRecords()).toEqual({ ok: true, result: { records: [] } });
  for (const requestId of ['first', 'second'])
    await deleteInDatabase(region.as('delete_user_group'))(deletionOf(organization, { requestId }));
  await remove(organizationId);
  const ids = { organizationId, identityId, subjectId: userGroupId, operation: 'Auth:UserGroups:Delete' };
  const record = { ...ids, date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/) };
  const records = [
    { ...record, requestId: 'second', subjectName: null, outcome: 'user_group_not_found' },
    { ...record, requestId: 'first', subjectName, outcome: 'deleted' },
  ];
  expect(await listRecords()).toEqual({ ok: true, result: { records } });
  expect(await listRecords(newId('ug'))).toEqual(refused('user_group_not_found'));
});

const url = 'https://hooks.customer.com/wallet?tenant=1';
const add = async (change: Json = {}) => {
  const { webhookId } = await run('add-webhook', { organizationId, url, ...change });
  return String(webhookId);
};
const describeWebhook = (webhookId: string) => run('describe-webhook', { webhookId });

const listWebhooks = async () =>
  (await run<{ webhooks: Json[] }>('list-webhooks', { organizationId })).webhooks;

it('add-webhook adds an enabled webhook with its first secret, a normalized URL and each kind once', async () => {
  const kinds = ['wallet.created', 'null', 'a/b:c_d-e', 'wallet.created'];
  const webhookId = await add({ kinds, url: ' https://HOOKS.Customer.com:443/a b ' });
  expect(webhookId).toMatch(/^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/);
  expect(await describeWebhook(webhookId)).toEqual({
    webhookId,
    organizationId,
    url: 'https://hooks.customer.com/a%20b',
    kinds: kinds.slice(0, 3),
    enabled: true,
    disabledReason: null,
    disabledAt: null,
    secretVersion: 1,
    rotatedAt: null,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    pausedUntil: null,
    pauseReason: null,
  });
});

it('add-webhook and enable-webhook refuse the 51st enabled webhook, also of a concurrent one; fifty of the largest fit one response', async () => {
  await region.query`
    insert into webhooks (webhook_id, organization_id, url, kinds, enabled, disabled_reason, disabled_at)
    select 'wh-' || lpad(n::text, 5, '0') || substr(${organizationId}, 9), ${organizationId}, rpad(${url}, 2048, 'x'),
      (select array_agg(rpad(kind || '-', 128, 'k')) from generate_series(1, 100) kind),
      n <= 49, case when n > 49 then 'gone' end, case when n > 49 then now() end
    from generate_series(1, 60) n`;
  const disabled = await region.query`
    select webhook_id from webhooks where organization_id = ${organizationId} and not enabled`;
  let answers: Promise<unknown[]> | undefined;
  await region.owner.transaction(async (transaction) => {
    await transaction.execute(sql`
      insert into webhooks (webhook_id, organization_id, url) values (${newId('wh')}, ${organizationId}, ${url})`);
    const enabling = disabled.map(({ webhook_id: webhookId }) => invoke('enable-webhook', { webhookId }));
    answers = Promise.all([invoke('add-webhook', { organizationId, url }), ...enabling]);
    await Promise.race([region.untilBlocked(), answers]);
    return ok(null);
  });
  const refusal = refused('too_many_webhooks', expect.stringContaining('has 50 enabled webhooks'));
  expect(await answers).toEqual(Array(1 + disabled.length).fill(refusal));
  const [first] = await listWebhooks();
  expect(await run('enable-webhook', { webhookId: first?.webhookId })).toMatchObject({ enabled: true });
  expect((await listWebhooks()).filter(({ enabled }) => enabled)).toHaveLength(50);
});

it.each([
  ['with an address', 'address_instead_of_name', 'https://10.0.0.1/'],
  ['with a fragment', 'fragment_in_url', 'https://hooks.customer.com/#!/token'],
  ['of the API', 'url_of_this_environment', `${ownFacts.apiUrl}/webhook-origins/check/wh-1`],
  ['of the dashboard', 'url_of_this_environment', ownFacts.dashboardUrl.toUpperCase()],
])('a URL %s is refused with %s, and changes nothing', async (_, code, wrong) => {
  const webhookId = await add();
  expect(await invoke('add-webhook', { organizationId, url: wrong })).toEqual(refused(code));
  expect(await invoke('update-webhook', { webhookId, url: wrong, kinds: ['a'] })).toEqual(refused(code));
  expect(await listWebhooks()).toMatchObject([{ webhookId, url, kinds: null }]);
});

it('add-webhook with `check` leads an ephemeral organization to the environment itself, and no other', async () => {
  const check = (change: Json = {}) => invoke('add-webhook', { organizationId, check: true, ...change });
  expect(await check()).toEqual(refused('organization_not_ephemeral'));
  const seeded = await run('seed', { userGroupName: 'Smoke test', ephemeral: true });
  const added = await run('add-webhook', { organizationId: seeded.organizationId, check: true });
  expect(added.url).toBe(`${ownFacts.apiUrl}/webhook-origins/check/${added.webhookId}`);
  expect(await check({ url })).toEqual(refused('input_invalid'));
});

it('list-webhooks lists the webhooks of one organization, latest first, until remove-webhook', async () => {
  expect(await listWebhooks()).toEqual([]);
  const first = await add();
  await region.query`
    update webhooks set created_at = created_at - interval '1 minute' where webhook_id = ${first}`;
  const second = await add();
  await add({ organizationId: await addOrganization(region.owner) });
  expect(await listWebhooks()).toMatchObject([{ webhookId: second }, { webhookId: first }]);
  expect(await run('remove-webhook', { webhookId: first })).toEqual({ webhookId: first, organizationId });
  expect(await listWebhooks()).toMatchObject([{ webhookId: second }]);
  const unknown = { organizationId: newId('or') };
  expect(await invoke('list-webhooks', unknown)).toEqual(refused('organization_not_found'));
  expect(await invoke('add-webhook', { ...unknown, url })).toEqual(refused('organization_not_found'));
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

it('disable-, enable- and update-webhook change what they say, and nothing else', async () => {
  const webhookId = await add({ kinds: ['wallet.created'] });
  await createWebhooks(region.as('deliver_webhook')).disable(webhookId, url, 'gone');
  const unpaused = { pausedUntil: null, pauseReason: null };
  const enabled = { enabled: true, disabledReason: null, disabledAt: null, ...unpaused };
  const disabled = { enabled: false, disabledReason: 'operator', disabledAt: expect.stringMatching(/Z$/) };
  const same = { failures: 5, unhealthy_at: null };
  const steps: readonly (readonly [operation: string, change: Json, after: Json, health: Json])[] = [
    ['disable-webhook', {}, {}, same],
    // Nobody knows yet how fast its receiver is: deliveries take the retry queue.
    ['enable-webhook', {}, enabled, { failures: 0, unhealthy_at: '-infinity' }],
    ['update-webhook', { kinds: ['key.created', 'key.deleted'] }, {}, same],
    ['update-webhook', { url: 'https://b.example.com/' }, unpaused, { ...same, failures: 0 }],
    ['update-webhook', { kinds: null }, {}, same],
    ['disable-webhook', {}, disabled, same],
  ];
  for (const [operation, change, after, health] of steps) {
    await region.query`
      update webhooks set paused_until = '2036-01-01', pause_reason = 'no_response', pause_seconds = 30, failures = 5,
        unhealthy_at = null
      where webhook_id = ${webhookId}`;
    const before = await describeWebhook(webhookId);
    expect(await run(operation, { webhookId, ...change })).toEqual({ ...before, ...change, ...after });
    const found = await region.query`
      select failures, unhealthy_at::text from webhooks where webhook_id = ${webhookId}`;
    expect(found).toEqual([health]);
  }
});

it("operations refuse an unknown webhook, and those that change it the environment's own probe", async () => {
  const names = Object.keys(inputs).filter((name) => /-webhook(-secret)?$/.test(name));
  expect(names).toHaveLength(7);
  const [unknown, { organizationId, webhookId }] = [newId('wh'), probe];
  const notFound = refused('webhook_not_found', expect.stringContaining(`${unknown} in environment test`));
  const ofProbe = expect.stringContaining("not that of the environment's own probe.");
  for (const name of names) {
    const isNew = name === 'add-webhook';
    if (!isNew) expect([name, await invoke(name, { webhookId: unknown })]).toEqual([name, notFound]);
    const input = isNew ? { organizationId, url } : { webhookId };
    if (name !== 'describe-webhook')
      expect([name, await invoke(name, input)]).toEqual([name, refused('input_invalid', ofProbe)]);
  }
});

/** Unique across tests. */
const own = (id: string) => `${organizationId}_${id}`.slice(3);
const start = Date.parse('2036-11-20T12:00:00.007Z');
const time = (second: number) => new Date(start + second * 1_000).toISOString();
const keep = (id: string, second: number, kind = 'wallet.created') =>
  createSubscriptions(region.as('fan_out_event')).findSubscribers({
    event: { id: own(id), organizationId, kind, text: '{}' },
    acceptedAt: start + second * 1_000,
    messageId: 'm-1',
  });

type Attempt = Parameters<ReturnType<typeof createWebhooks>['record']>[0];
const failed = { durationMs: 12.4, outcome: 'failed', reason: 'connection_refused' } as const;
const record = (id: string, { number = 1, ...change }: Partial<Attempt> = {}) => {
  const ids = { webhookId: 'wh-1', deliveryId: own(id), eventId: own(id), series: '' };
  const attempt = { ...ids, attemptedAt: start, ...failed, number, attempt: number, ...change };
  return createWebhooks(region.as('deliver_webhook')).record(attempt);
};

const listAttempts = (input: Json) => invoke('list-delivery-attempts', input);
it('list-delivery-attempts lists those of an event, latest first, with the time of the next one', async () => {
  const delivered = { status: 204, durationMs: 12, outcome: 'delivered', reason: 'ok' } as const;
  await record('a', { successor: { attempt: 2, notBefore: start + 5_000 } });
  await record('a', { ...delivered, number: 2, attemptedAt: start + 6_000 });
  const ids = { eventId: own('a'), webhookId: 'wh-1', deliveryId: own('a'), series: '' };
  const attempts = [
    { ...ids, ...delivered, attempt: 2, date: time(6), nextAttemptAt: null },
    { ...ids, ...failed, attempt: 1, durationMs: 12, date: time(0), status: null, nextAttemptAt: time(5) },
  ];
  expect(await listAttempts({ eventId: own('a') })).toEqual({ ok: true, result: { attempts } });
});

it("list-delivery-attempts filters, refuses unknown events and webhooks, and leaves out the environment's own probe unless it is named", async () => {
  const webhookId = await add();
  for (const [index, outcome] of (['failed', 'given_up', 'failed'] as const).entries())
    await record(`${index}`, { webhookId, outcome, attemptedAt: start + index * 1_000 });
  await record('0', { deliveryId: 'another' });
  const removed = await add();
  await record('removed', { webhookId: removed });
  await run('remove-webhook', { webhookId: removed });
  await record('probe', { webhookId: probe.webhookId, attemptedAt: start + 3_600_000 });
  await keep('kept', 0);
  const rows: [Json, string | string[]][] = [
    [{ webhookId }, ['2', '1', '0']],
    [{ webhookId, limit: 1 }, ['2']],
    [{ webhookId, outcome: 'given_up' }, ['1']],
    [{ webhookId, eventId: own('0') }, ['0']],
    [{ webhookId, since: time(0.5), until: time(1) }, ['1']],
    [{ webhookId, until: '2036-11-20T12:00:00+00:00' }, []],
    [{ since: time(3_600) }, []],
    [{ since: time(3_600), webhookId: probe.webhookId }, ['probe']],
    [{ since: time(3_600), eventId: own('probe') }, ['probe']],
    [{ webhookId, eventId: own('kept') }, []],
    [{ webhookId: removed, outcome: 'delivered' }, []],
    [{ webhookId, eventId: own('unknown') }, 'event_not_found'],
    [{ webhookId: newId('wh'), eventId: own('kept') }, 'webhook_not_found'],
  ];
  for (const [filter, found] of rows) {
    const attempts = [found].flat().map((id) => expect.objectContaining({ eventId: own(id) }));
    const expected = typeof found === 'string' ? refused(found) : { ok: true, result: { attempts } };
    expect(await listAttempts(filter)).toEqual(expected);
  }
});

it("list-stored-events lists those of the webhook's kinds in the order of acceptance, also those sent while it was disabled or before", async () => {
  const [webhookId, newer] = [await add({ kinds: ['wallet.created'] }), await add()];
  const foreign = await add({ organizationId: await addOrganization(region.owner) });
  await region.query`
    update webhooks set created_at = ${time(2)}::timestamptz where webhook_id = ${newer}`;
  await keep('b', 1);
  await run('disable-webhook', { webhookId });
  for (const id of ['c', 'a']) await keep(id, 2);
  await keep('d', 3, 'key.created');
  await keep('e', 4);
  await record('b', { webhookId, outcome: 'delivered' });
  await record('a', { webhookId, outcome: 'given_up' });
  await record('a', { webhookId: newer, deliveryId: 'another', outcome: 'delivered' });
  const rows: readonly (readonly [input: Json, ids: string])[] = [
    [{}, 'b a c e'],
    [{ since: time(2), until: time(3) }, 'a c'],
    [{ since: time(2), after: own('a') }, 'c e'],
    [{ since: time(1), after: own('b') }, 'a c e'],
    [{ eventId: own('c') }, 'c'],
    [{ undelivered: true }, 'a c e'],
    [{ limit: 1 }, 'b'],
    [{ webhookId: newer }, 'a c d e'],
    [{ webhookId: foreign }, ''],
  ];
  for (const [input, ids] of rows) {
    const all = { webhookId, since: time(0), until: time(59), ...input };
    const { events } = await run<{ events: { eventId: string }[] }>('list-stored-events', all);
    expect([input, events.map(({ eventId }) => eventId.split('_')[1]).join(' ')]).toEqual([input, ids]);
    if (ids === 'b') expect(events).toEqual([{ eventId: own('b'), acceptedAt: time(1), delivered: true }]);
    if (ids === 'a c') expect(events).toMatchObject([{ delivered: false }, { delivered: false }]);
  }
});

// Commands ask for permission in production by these names: test/cli/every-command.test.ts.
it('an operation fails in a database that only reads, unless its name says that it lists or describes', async () => {
  await readOnly.query`do $$ begin
    execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`;
  const ids = { organizationId, webhookId: newId('wh'), identityId: newId('us') };
  const times = { since: time(0), until: time(1) };
  const given = Object.entries({ ...ids, ...times, url, limit: 1, userGroupName: 'Approvers' });
  const writing: string[] = [];
  for (const [operation, fields] of Object.entries(inputs)) {
    const input = Object.fromEntries(given.filter(([name]) => name in fields));
    const response = await invoke(operation, input, readOnly);
    if (JSON.stringify(response).includes('sql_state_25006')) writing.push(operation);
  }
  expect(writing).toEqual(Object.keys(inputs).filter((name) => !/^(list|describe)-/.test(name)));
});
