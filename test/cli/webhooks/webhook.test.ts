import { parseDelivery } from '../../../domain/delivery';
import { parseEvent } from '../../../domain/event';
import { probe } from '../../../domain/probe';
import { attempt, disabled, paused, url, webhook } from '../every-command';
import { useInstantWaits } from '../instant-waits';
import { organizationId, refusal, result, useRegion, webhookId } from '../region';

useInstantWaits();
const region = useRegion();

const ofOrganization = ['--organization', organizationId];
const ofWebhook = ['--webhook', webhookId];

it('webhook secret prints the secret that signs', async () => {
  region.answer({ 'describe-webhook': () => result(webhook) });
  const { stdout } = await region.wallet('webhook', 'secret', ...ofWebhook);
  expect(stdout).toBe(`${await region.secret(webhook.secretVersion)}\n`);
});

it.each([
  ['nothing', []],
  ['some kinds, and all', ['--kinds', 'a', '--all-kinds']],
  ['some kinds, and all, and a URL', ['--kinds', 'a', '--all-kinds', '--url', url]],
])('webhook update refuses %s', async (_, args) => {
  region.answer({});
  const stderr = 'error: Give --url, --kinds or --all-kinds; the last two exclude each other.\n';
  const printed = await region.wallet('webhook', 'update', ...ofWebhook, ...args);
  expect(printed).toEqual({ exitCode: 2, stdout: '', stderr });
  expect(region.calls()).toEqual([]);
});

it('webhook disable sends the same webhook.disabled each time', async () => {
  region.answer({ 'disable-webhook': () => result(disabled) });
  for (let run = 0; run < 2; run++) await region.json('webhook', 'disable', ...ofWebhook);
  const [first, second] = region.messages();
  expect(second).toEqual(first);
  expect(parseEvent(first?.body ?? '')).toMatchObject({ ok: true, value: { organizationId } });
});

describe('webhook test', () => {
  const test = () => region.wallet('webhook', 'test', ...ofWebhook);

  it('sends a delivery that the delivery function reads', async () => {
    region.answer({
      'describe-webhook': () => result(webhook),
      'list-delivery-attempts': () => result({ attempts: [attempt] }),
    });
    expect(await test()).toMatchObject({ exitCode: 0 });
    const [message] = region.messages();
    expect(parseDelivery(message?.body ?? '')).toMatchObject({ ok: true, value: { webhookId } });
  });

  const pausedForLong = { ...webhook, ...paused, pausedUntil: '2099-01-01T00:00:00.000Z' };
  it.each([
    ['disabled', disabled],
    ['paused', pausedForLong],
  ])('sends nothing to a webhook that is %s', async (state, webhook) => {
    region.answer({ 'describe-webhook': () => result(webhook) });
    expect(await test()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`is ${state}`) });
    expect(region.messages()).toEqual([]);
  });

  it('says that a webhook is paused too if another delivery was the trial after the pause, and failed', async () => {
    let state: object = webhook;
    region.answer({
      'describe-webhook': () => result(state),
      'list-delivery-attempts': () => {
        state = pausedForLong;
        return result({ attempts: [] });
      },
    });
    expect(await test()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is paused until 2099'),
    });
    expect(region.messages()).toHaveLength(1);
  });
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
