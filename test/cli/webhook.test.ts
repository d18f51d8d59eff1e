import { requireDelivered } from '../../cli/webhook-test';
import { type Attempt, parseDelivery } from '../../domain/delivery';
import { parseEvent } from '../../domain/event';
import { organizationId, refusal, result, useRegion, webhookId } from './region';

const region = useRegion();

// A wait takes no time, and moves the clock by a minute.
let mockMinutes = 0;
jest.mock('node:timers/promises', () => ({
  setTimeout: async () => {
    mockMinutes += 1;
  },
}));
const { now } = Date;
jest.spyOn(Date, 'now').mockImplementation(() => now() + mockMinutes * 60_000);

const url = 'https://hooks.customer.com/wallet';
const time = '2026-11-20T12:00:00.000Z';
const webhook = {
  ...{ webhookId, organizationId, url, kinds: null, enabled: true, disabledReason: null, disabledAt: null },
  ...{ secretVersion: 1, rotatedAt: null, createdAt: time },
};
const kinds = ['wallet.created', 'wallet.deleted'];
const ofOrganization = ['--organization', organizationId];
const ofWebhook = ['--webhook', webhookId];

it.each<[name: string, args: string[], operation: string, input: object, given: object]>([
  ['show', [], 'describe-webhook', { webhookId }, webhook],
  ['update', ['--url', url], 'update-webhook', { webhookId, url }, webhook],
  ['update', ['--kinds', `${kinds}`], 'update-webhook', { webhookId, kinds }, webhook],
  ['update', ['--all-kinds'], 'update-webhook', { webhookId, kinds: null }, webhook],
  ['enable', [], 'enable-webhook', { webhookId }, webhook],
  ['remove', [], 'remove-webhook', { webhookId }, { webhookId, organizationId }],
])('webhook %s %j calls one operation and prints its result', async (name, args, operation, input, given) => {
  region.answer({ [operation]: () => result(given) });
  expect(await region.json('webhook', name, ...ofWebhook, ...args)).toEqual(given);
  expect(region.calls()).toEqual([{ operation, input }]);
  expect((await region.wallet('webhook', name, ...ofWebhook, ...args)).stdout).toMatch(webhookId);
});

it('webhook show prints a line for each property', async () => {
  const disabled = { enabled: false, disabledReason: 'gone', disabledAt: time };
  const given = { ...webhook, ...disabled, kinds, secretVersion: 2, rotatedAt: time };
  region.answer({ 'describe-webhook': () => result(given) });
  const { stdout } = await region.wallet('webhook', 'show', ...ofWebhook);
  expect(stdout.trim().split('\n')).toEqual([
    `webhook       ${webhookId}`,
    `organization  ${organizationId}`,
    `url           ${url}`,
    'kinds         wallet.created,wallet.deleted',
    `state         disabled: gone, since ${time}`,
    `secret        version 2, since ${time}`,
    `added         ${time}`,
  ]);
});

it('webhook list prints a table, a JSON array, or that there are no webhooks', async () => {
  region.answer({ 'list-webhooks': () => result({ webhooks: [webhook] }) });
  const list = ['webhook', 'list', ...ofOrganization];
  expect((await region.wallet(...list)).stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^WEBHOOK +STATE +KINDS +SECRET +ADDED +URL$/),
    `${webhookId}  enabled  all    1       ${time}  ${url}`,
  ]);
  expect(await region.json(...list)).toEqual([webhook]);
  region.answer({ 'list-webhooks': () => result({ webhooks: [] }) });
  expect((await region.wallet(...list)).stderr).toBe(`${organizationId} has no webhooks.\n`);
});

describe('webhook add, secret and rotate print the signing secret', () => {
  it('add, with the next commands on stderr', async () => {
    region.answer({ 'add-webhook': () => result({ ...webhook, kinds }) });
    const add = ['webhook', 'add', ...ofOrganization, '--url', url, '--kinds', `${kinds}`];
    const secret = await region.secret(1);
    const { stdout, stderr } = await region.wallet(...add);
    expect(stdout).toBe(`webhookId  ${webhookId}\nsecret     ${secret}\n`);
    expect(stderr).toContain(`wallet webhook secret --webhook ${webhookId} --outputs ${region.outputs}`);
    expect(stderr).toContain(`--organization ${organizationId} --kind wallet.created --data '{}'`);
    expect(region.calls()).toEqual([{ operation: 'add-webhook', input: { organizationId, url, kinds } }]);
    expect(await region.json(...add)).toEqual({ webhookId, secret });
  });

  it('secret', async () => {
    region.answer({ 'describe-webhook': () => result({ ...webhook, secretVersion: 2 }) });
    const secret = await region.secret(2);
    expect((await region.wallet('webhook', 'secret', ...ofWebhook)).stdout).toBe(`${secret}\n`);
    const printed = await region.json('webhook', 'secret', ...ofWebhook);
    expect(printed).toEqual({ webhookId, secret, secretVersion: 2 });
  });

  it('rotate, of the new version', async () => {
    const rotated = { webhookId, secretVersion: 3, previousSignsUntil: time };
    region.answer({ 'rotate-webhook-secret': () => result(rotated) });
    const secret = await region.secret(3);
    const { stdout, stderr } = await region.wallet('webhook', 'rotate', ...ofWebhook);
    expect(stdout).toBe(`${secret}\n`);
    expect(stderr).toContain(`secret sign until ${time}`);
    const again = await region.json('webhook', 'rotate', ...ofWebhook, '--again');
    expect(again).toEqual({ ...rotated, secret });
    const inputs = region.calls().map(({ input }) => input);
    expect(inputs).toEqual([false, true].map((each) => ({ webhookId, again: each })));
  });
});

it('webhook disable sends webhook.disabled to the organization, the same event each time', async () => {
  const disabled = { ...webhook, enabled: false, disabledReason: 'operator', disabledAt: time };
  region.answer({ 'disable-webhook': () => result(disabled) });
  for (let run = 0; run < 2; run++)
    expect(await region.json('webhook', 'disable', ...ofWebhook)).toEqual(disabled);
  const [first, second] = region.messages();
  expect(second).toEqual(first);
  expect(first).toMatchObject({ queue: 'events', group: organizationId });
  expect(parseEvent(first?.body ?? '')).toMatchObject({ ok: true, value: { organizationId } });
  const data = { webhookId, reason: 'operator' };
  expect(JSON.parse(first?.body ?? '')).toMatchObject({ kind: 'webhook.disabled', date: time, data });
});

describe('webhook test', () => {
  const test = (...args: string[]) => region.wallet('webhook', 'test', ...ofWebhook, ...args);
  const attempt = { webhookId, outcome: 'delivered', status: 204, durationMs: 7, reason: 'ok' };
  /** A region with these attempts after the event is sent. */
  const attempting = (attempts: readonly object[], state = {}) =>
    region.answer({
      'describe-webhook': () => result({ ...webhook, ...state }),
      'list-delivery-attempts': () => result({ attempts }),
    });

  it('sends an event to one webhook only, and prints the attempt', async () => {
    attempting([attempt]);
    const { exitCode, stdout } = await test('--json');
    expect({ exitCode, printed: JSON.parse(stdout) }).toEqual({ exitCode: 0, printed: attempt });
    const [message, ...others] = region.messages();
    expect(others).toEqual([]);
    expect(message).toMatchObject({ queue: 'deliveries', group: webhookId });
    const delivery = parseDelivery(message?.body ?? '');
    if (!delivery.ok) throw new Error(delivery.error);
    const id = expect.stringMatching(/^evt_test_[0-9a-f]{32}$/);
    const event = { ok: true, value: { organizationId, kind: 'webhook.test', id } };
    expect(parseEvent(delivery.value.body)).toMatchObject(event);
    expect(region.calls().at(-1)?.input).toEqual({ eventId: delivery.value.eventId, webhookId, limit: 1 });
  });

  const failed = [{ ...attempt, outcome: 'failed', status: 500, reason: 'server_error' }];
  it.each<[string, object[], state: object, printed: string, said: string, sent: number]>([
    ['the receiver fails', failed, {}, 'failed, status 500 after 7 ms\n', 'server_error.\nSee the log', 1],
    ['there is no attempt in time', [], {}, '', 'No delivery attempt within 60 s.', 1],
    ['the webhook is disabled', [], { enabled: false }, '', 'Enable it first: ', 0],
  ])('fails when %s', async (_, attempts, state, stdout, said, sent) => {
    attempting(attempts, state);
    const printed = await test();
    expect(printed).toEqual({ exitCode: 1, stdout, stderr: expect.stringContaining(said) });
    expect(region.messages()).toHaveLength(sent);
  });

  it.each([
    [401, 'client_error', 'returned 401', 'rejected the signature'],
    [410, 'gone', 'returned 410', 'webhook enable'],
    [302, 'redirect_not_followed', 'returned 302', 'Redirects are not followed'],
    [404, 'client_error', 'returned 404', 'check the path'],
    [null, 'connection_refused', 'did not respond', 'Nothing listens'],
    [null, 'connect_timeout', 'did not respond', 'firewall'],
    [null, 'certificate_wrong_name', 'did not respond', 'valid certificate'],
    [null, 'unreachable', 'did not respond', 'reachable from the internet'],
  ])('has a remedy for %s %s', (status, reason, message, remedy) => {
    const delivery = { outcome: 'failed', status, reason } as Attempt;
    const error = { message: expect.stringContaining(message), remedy: expect.stringContaining(remedy) };
    expect(() => requireDelivered(delivery)).toThrow(expect.objectContaining(error));
  });
});

it.each([
  ['webhook_not_found', 1],
  ['scheme_not_https', 2],
  ['input_invalid', 2],
])('prints why an operation was refused: %s', async (code, exitCode) => {
  region.answer({ 'add-webhook': () => refusal(code, 'No.') });
  const printed = await region.wallet('webhook', 'add', ...ofOrganization, '--url', url);
  expect(printed).toEqual({ exitCode, stdout: '', stderr: 'error: No.\n' });
});

it.each([[[]], [['--kinds', 'a', '--all-kinds']]])(
  'webhook update reports a usage error for %j',
  async (args) => {
    region.answer({});
    const printed = await region.wallet('webhook', 'update', ...ofWebhook, ...args);
    expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(region.calls()).toEqual([]);
  },
);
