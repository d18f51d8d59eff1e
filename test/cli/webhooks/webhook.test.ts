import { parseDelivery } from '../../../domain/delivery';
import { parseEvent } from '../../../domain/event';
import { probe } from '../../../domain/probe';
import { first } from '../../support/rows';
import { useInstantWaits } from '../instant-waits';
import { organizationId, refusal, result, useRegion, webhookId } from '../region';

useInstantWaits();
const region = useRegion();

const url = 'https://hooks.customer.com/wallet';
const time = '2026-11-20T12:00:00.000Z';
const kinds = ['wallet.created', 'wallet.deleted'];
const webhook = {
  ...{ webhookId, organizationId, url, kinds, enabled: true, disabledReason: null, disabledAt: null },
  ...{ secretVersion: 1, rotatedAt: null, createdAt: time },
  ...{ pausedUntil: null, pauseReason: null },
};
const ofOrganization = ['--organization', organizationId];
const ofWebhook = ['--webhook', webhookId];

it.each<[name: string, args: string[], operation: string, input: object, given: object]>([
  ['update', ['--url', url, '--kinds', `${kinds}`], 'update-webhook', { webhookId, url, kinds }, webhook],
  ['update', ['--all-kinds'], 'update-webhook', { webhookId, kinds: null }, webhook],
  ['enable', [], 'enable-webhook', { webhookId }, webhook],
  ['remove', [], 'remove-webhook', { webhookId }, { webhookId, organizationId }],
])('webhook %s %j calls one operation and prints its result', async (name, args, operation, input, given) => {
  region.answer({ [operation]: () => result(given) });
  expect(await region.json('webhook', name, ...ofWebhook, ...args)).toEqual(given);
  expect(region.calls()[0]).toEqual({ operation, input });
  expect((await region.wallet('webhook', name, ...ofWebhook, ...args)).stdout).toMatch(webhookId);
});

it.each([
  [[], 'given up      none in 24 hours'],
  [['timeout', 'server_error'], `given up      2 in 24 hours, the latest at ${time}: timeout`],
])('webhook show prints the webhook, and what was given up: %j', async (reasons, line) => {
  const givenUp = reasons.map((reason) => ({ date: time, eventId: 'evt_1', reason }));
  region.answer({
    'describe-webhook': () => result(webhook),
    'list-delivery-attempts': () => result({ attempts: givenUp.map((one) => ({ ...one, webhookId })) }),
  });
  expect(await region.json('webhook', 'show', ...ofWebhook)).toEqual({ ...webhook, givenUp });
  const input = { webhookId, outcome: 'given_up', since: expect.any(String), limit: 100 };
  expect(region.calls()[1]).toEqual({ operation: 'list-delivery-attempts', input });
  const { stdout } = await region.wallet('webhook', 'show', ...ofWebhook);
  expect(stdout).toMatch(webhookId);
  expect(stdout).toContain(line);
});

it('webhook list prints a table, or a JSON array', async () => {
  region.answer({ 'list-webhooks': () => result({ webhooks: [webhook] }) });
  const list = ['webhook', 'list', ...ofOrganization];
  expect((await region.wallet(...list)).stdout).toContain(`${webhookId}  enabled  ${kinds}  1       ${time}`);
  expect(await region.json(...list)).toEqual([webhook]);
});

const rotated = { webhookId, secretVersion: 3, previousSignsUntil: time };
it.each<[name: string, args: string[], operation: string, input: object, given: { secretVersion: number }]>([
  ['add', [...ofOrganization, '--url', url], 'add-webhook', { organizationId, url, kinds: null }, webhook],
  ['secret', ofWebhook, 'describe-webhook', { webhookId }, { ...webhook, secretVersion: 2 }],
  ['rotate', [...ofWebhook, '--again'], 'rotate-webhook-secret', { webhookId, again: true }, rotated],
])('webhook %s %j prints the secret that signs', async (name, args, operation, input, given) => {
  region.answer({ [operation]: () => result(given) });
  const secret = await region.secret(given.secretVersion);
  expect(await region.json('webhook', name, ...args)).toMatchObject({ webhookId, secret });
  expect(region.calls()[0]).toEqual({ operation, input });
  const printed = await region.wallet('webhook', name, ...args);
  expect(printed.stdout.split(/\s+/).at(-2)).toBe(secret);
  expect(printed.stderr).not.toContain(secret);
});

it('webhook disable sends webhook.disabled to the organization, the same event each time', async () => {
  const disabled = { ...webhook, disabledReason: 'operator', disabledAt: time };
  region.answer({ 'disable-webhook': () => result(disabled) });
  for (let run = 0; run < 2; run++) await region.json('webhook', 'disable', ...ofWebhook);
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
    const { eventId, body } = delivery.ok ? delivery.value : { eventId: '', body: '' };
    const event = { organizationId, kind: 'webhook.test', id: eventId };
    expect(parseEvent(body)).toMatchObject({ ok: true, value: event });
    expect(region.calls().at(-1)?.input).toEqual({ eventId, webhookId, limit: 1 });
  });

  const paused = { pausedUntil: '2099-01-01T00:00:00.000Z', pauseReason: 'no_response' };
  const over = { ...paused, pausedUntil: time };

  it('says why a webhook is paused, until when, and how to end that, instead of a wait', async () => {
    attempting([], paused);
    const enable = `webhook enable --webhook ${webhookId} --environment ${first.name} --outputs ${region.outputs}`;
    const stderr = `error: ${webhookId} is paused until 2099-01-01T00:00:00.000Z: its last attempts got no response. Deliveries to it wait.
End the pause: ./wallet ${enable}\n`;
    expect(await test()).toEqual({ exitCode: 1, stdout: '', stderr });
    expect(region.messages()).toEqual([]);
    attempting([attempt], over);
    expect(await test()).toMatchObject({ exitCode: 0 });
  });

  it('says so too if another delivery was the trial after the pause, and failed', async () => {
    let state = over;
    region.answer({
      'describe-webhook': () => result({ ...webhook, ...state }),
      'list-delivery-attempts': () => {
        state = paused;
        return result({ attempts: [] });
      },
    });
    expect(await test()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is paused until 2099'),
    });
    expect(region.messages()).toHaveLength(1);
  });

  const failed = [{ ...attempt, outcome: 'failed', status: 500, reason: 'server_error' }];
  it.each<[string, object[], state: object, said: string, sent: number]>([
    ['the receiver fails', failed, {}, 'server_error.\nWhat receivers', 1],
    ['there is no attempt in time', [], {}, 'No delivery attempt within 60 s.', 1],
    ['the webhook is disabled', [], { enabled: false }, 'Enable it first: ', 0],
  ])('fails when %s', async (_, attempts, state, said, sent) => {
    attempting(attempts, state);
    expect(await test()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(said) });
    expect(region.messages()).toHaveLength(sent);
  });
});

it('webhook list marks a stored URL that could not be added today', async () => {
  const urls = ['https://a.customer.com/#!/token', 'https://b.customer.com/[a]', url];
  region.answer({
    'list-webhooks': () => result({ webhooks: urls.map((each) => ({ ...webhook, url: each })) }),
  });
  const { stdout } = await region.wallet('webhook', 'list', ...ofOrganization);
  expect(stdout).toContain(`${urls[0]} (The URL must not have a fragment`);
  expect(stdout).toContain(`${urls[1]} (Not a URL of RFC 3986: update it to https://b.customer.com/%5Ba%5D)`);
  expect(stdout).toMatch(RegExp(`${url}$`, 'm'));
});

it('webhook add sends and prints the URL as it will be requested', async () => {
  const requested = 'https://hooks.customer.com/a%20%5Bb%5D';
  region.answer({ 'add-webhook': () => result({ ...webhook, url: requested }) });
  const add = ['webhook', 'add', ...ofOrganization, '--url'];
  const { stderr } = await region.wallet(...add, 'https://hooks.customer.com/a [b]');
  expect(region.calls()[0]).toMatchObject({ input: { url: requested } });
  expect(stderr).toContain(`deliveries go to ${requested}\n`);
  const refusedByUs = await region.wallet(...add, 'https://hooks.customer.com/#!/token');
  expect(refusedByUs).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Write %23 for a "#".') });
});

it('a URL that the service refuses is a usage error', async () => {
  region.answer({ 'add-webhook': () => refusal('scheme_not_https', 'No.') });
  const printed = await region.wallet('webhook', 'add', ...ofOrganization, '--url', url);
  expect(printed).toEqual({ exitCode: 2, stdout: '', stderr: 'error: No.\n' });
});

it.each([
  ['webhook test', ['--webhook', probe.webhookId]],
  ['redeliver', ['--webhook', probe.webhookId, '--since', '1h']],
  ['local send-event', ['--organization', probe.organizationId, '--kind', 'wallet.created']],
])("%s refuses the environment's own probe", async (path, args) => {
  region.answer({});
  const stderr = expect.stringContaining("Give a customer's, not that of the environment's own probe.");
  expect(await region.wallet(...path.split(' '), ...args)).toEqual({ exitCode: 2, stdout: '', stderr });
  expect([...region.calls(), ...region.messages()]).toEqual([]);
});

it("webhook secret refuses the environment's own probe", async () => {
  region.answer({ 'describe-webhook': () => result({ ...webhook, webhookId: probe.webhookId }) });
  const printed = await region.wallet('webhook', 'secret', '--webhook', probe.webhookId);
  const stderr = expect.stringContaining("is the environment's own probe: nobody needs its secret.");
  expect(printed).toEqual({ exitCode: 2, stdout: '', stderr });
});
