import { environments } from '../../lib/environments';
import { eventually } from '../support/eventually';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { startWallet } from '../support/node-process';
import { expectDocumentedDelivery } from '../support/openapi';
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from '../support/webhook-receiver';

jest.setTimeout(60_000);

interface Added {
  readonly webhookId: string;
  readonly secret: string;
}
interface Attempt {
  readonly webhookId: string;
  readonly status: number | null;
  readonly outcome: string;
  readonly date: string;
  readonly nextAttemptAt: string | null;
}

let local: LocalEnvironment;
let receiver: WebhookReceiver;
beforeAll(async () => {
  local = await localEnvironment();
  receiver = await startWebhookReceiver();
}, 90_000);
afterAll(() => receiver.stop());

const names = environments.map(({ name }) => name);

describe.each(names)('in %s', (environment) => {
  let organizationId: string;
  beforeEach(async () => {
    ({ organizationId } = await local.walletJson<{ organizationId: string }>(environment, 'seed'));
  });

  /** Each test has its own receivers. */
  const own = (name: string) => `${organizationId}-${name}`;
  const add = (name: string, ...args: string[]) => {
    const command = ['webhook', 'add', '--organization', organizationId, '--url', receiver.url(own(name))];
    return local.walletJson<Added>(environment, ...command, ...args);
  };
  const sendEvent = async (kind = 'wallet.created', data = '{"walletId":"wa-1"}') => {
    const args = ['--organization', organizationId, '--kind', kind, '--data', data];
    return (await local.walletJson<{ eventId: string }>(environment, 'send-event', ...args)).eventId;
  };
  const attemptsOf = (eventId: string) =>
    local.walletJson<Attempt[]>(environment, 'deliveries', '--event', eventId);
  /** The row of an attempt is written after the receiver has answered. */
  const until = async <T>(read: () => Promise<T>, isIt: (value: T) => boolean): Promise<T> => {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const value = await read();
      if (isIt(value) || Date.now() > deadline) return value;
    }
  };

  it('an event is delivered from the webhook origin, with every documented signature header', async () => {
    const { webhookId, secret } = await add('in');
    const eventId = await sendEvent('wallet.created', '{"wei":12345678901234567890}');
    const [delivery] = await receiver.received(own('in'), 1);
    if (!delivery) throw new Error('Nothing came.');
    expectDocumentedDelivery(delivery.headers, delivery.body);
    const origins = await fetch(`${local.outputs(environment).ApiBaseUrl}/webhook-origins`);
    const { signatureHeaders } = (await origins.json()) as { signatureHeaders: string[] };
    expect(signatureHeaders[0]).toBe('webhook-signature');
    for (const header of signatureHeaders) verifyDelivery(delivery, secret, header.toLowerCase());
    expect(delivery.from).toBe(local.outputs(environment).WebhookOriginAddress);
    expect(JSON.parse(delivery.body)).toMatchObject({ id: eventId, organizationId, kind: 'wallet.created' });
    expect(delivery.body).toContain('"data":{"wei":12345678901234567890}');

    const attempts = await until(
      () => attemptsOf(eventId),
      (found) => found.length > 0,
    );
    expect(attempts).toEqual([
      expect.objectContaining({ webhookId, status: 204, outcome: 'delivered', nextAttemptAt: null }),
    ]);
  });

  it('a failed delivery is retried at the announced time, with the same webhook-id', async () => {
    await add('flaky');
    receiver.answer(own('flaky'), 503, 204);
    const eventId = await sendEvent();
    const [first, second] = await receiver.received(own('flaky'), 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);

    const attempts = await until(
      () => attemptsOf(eventId),
      (found) => found.length > 1,
    );
    expect(attempts).toMatchObject([
      { status: 204, outcome: 'delivered', nextAttemptAt: null },
      { status: 503, outcome: 'failed', nextAttemptAt: expect.any(String) },
    ]);
    const late = Date.parse(attempts[0]?.date ?? '') - Date.parse(attempts[1]?.nextAttemptAt ?? '');
    expect(late).toBeGreaterThan(-1_500);
    expect(late).toBeLessThan(5_000);
  });

  it('redelivers on request events that a webhook missed while disabled, and events that it received', async () => {
    const { webhookId, secret } = await add('missed', '--kinds', 'wallet.created');
    const tested = await local.walletJson(environment, 'webhook', 'test', '--webhook', webhookId);
    expect(tested).toMatchObject({ webhookId, outcome: 'delivered', status: 204 });
    await local.wallet(environment, 'webhook', 'disable', '--webhook', webhookId);
    const eventId = await sendEvent('wallet.created', '{"wei":12345678901234567890}');
    await until(
      () => attemptsOf(eventId).catch(() => undefined),
      (attempts) => attempts !== undefined,
    );
    await local.wallet(environment, 'webhook', 'enable', '--webhook', webhookId);

    const redeliver = ['redeliver', '--webhook', webhookId];
    const since = await local.walletJson(environment, ...redeliver, '--since', '5m', '--undelivered');
    expect(since).toMatchObject({ redelivered: 1 });
    const [test, missed] = await receiver.received(own('missed'), 2);
    if (!test || !missed) throw new Error('Nothing came.');
    expect(JSON.parse(test.body)).toMatchObject({ kind: 'webhook.test', data: { webhookId } });
    expect(JSON.parse(missed.body)).toMatchObject({ id: eventId });
    expect(missed.body).toContain('"data":{"wei":12345678901234567890}');

    expect(await local.walletJson(environment, ...redeliver, '--event', eventId)).toMatchObject({
      redelivered: 1,
    });
    const [, , again] = await receiver.received(own('missed'), 3);
    if (!again) throw new Error('Nothing came.');
    expect(again.headers['webhook-id']).toBe(missed.headers['webhook-id']);
    expect(again.body).toBe(missed.body);
    for (const delivery of [test, missed, again]) verifyDelivery(delivery, secret, 'webhook-signature');
  });

  it("a webhook disabled by a 410 or an operator is reported to the organization's other webhooks", async () => {
    const { secret } = await add('watcher', '--kinds', 'webhook.disabled');
    const gone = await add('gone', '--kinds', 'wallet.created');
    const stopped = await add('stopped', '--kinds', 'key.created');
    receiver.answer(own('gone'), 410);
    await sendEvent();
    const [byReceiver] = await receiver.received(own('watcher'), 1);
    await local.wallet(environment, 'webhook', 'disable', '--webhook', stopped.webhookId);
    const [, byOperator] = await receiver.received(own('watcher'), 2);
    if (!byReceiver || !byOperator) throw new Error('Nothing came.');
    for (const delivery of [byReceiver, byOperator]) verifyDelivery(delivery, secret, 'webhook-signature');
    const common = { kind: 'webhook.disabled', organizationId };
    const { webhookId } = gone;
    expect(JSON.parse(byReceiver.body)).toMatchObject({ ...common, data: { webhookId, reason: 'gone' } });
    expect(JSON.parse(byOperator.body)).toMatchObject({
      ...common,
      data: { webhookId: stopped.webhookId, reason: 'operator' },
    });
  });
});

it('"wallet local receive" prints a verified delivery, and exits on Ctrl-C', async () => {
  const [environment = ''] = names;
  const outputs = `${local.stateDirectory}/outputs.json`;
  const args = ['--port', '0', '--environment', environment, '--outputs', outputs, '--json'];
  const command = startWallet('receive', ...args);
  try {
    await eventually(() => expect(command.said.stderr).toMatch(/http:\S+/), 20);
    const [url = ''] = /http:\S+/.exec(command.said.stderr) ?? [];
    const { organizationId } = await local.walletJson<{ organizationId: string }>(environment, 'seed');
    const organization = ['--organization', organizationId];
    const add = ['webhook', 'add', ...organization, '--url', url];
    const { webhookId } = await local.walletJson<Added>(environment, ...add);
    await local.wallet(environment, 'send-event', ...organization, '--kind', 'wallet.created');
    await eventually(() => expect(command.said.stdout).toContain('\n'), 20);
    const printed = JSON.parse(command.said.stdout);
    expect(printed).toMatchObject({ verified: true, webhookId, from: '127.0.0.1', answered: 204 });
  } finally {
    command.process.kill('SIGINT');
    expect((await command.ended()).exitCode).toBe(0);
  }
});
