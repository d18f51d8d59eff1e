import type { Attempt } from '../../domain/delivery';
import { eventually } from '../support/eventually';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { expectDocumentedDelivery } from '../support/openapi';
import type { Organization } from '../support/organization';
import { running } from '../support/rows';
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from '../support/webhook-receiver';

type Received = Awaited<ReturnType<WebhookReceiver['received']>>[number];

const data = '{"wei":12345678901234567890}';
let local: LocalEnvironment;
let receiver: WebhookReceiver;

beforeAll(async () => {
  local = await localEnvironment();
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());

/** A webhook of an organization and receiver of its own. */
async function openWebhook(environment: string) {
  const { organizationId } = await local.walletJson<Organization>(environment, 'seed');
  const organization = ['--organization', organizationId];
  const kind = 'wallet.created';
  const { webhookId, secret } = await local.walletJson<{ webhookId: string; secret: string }>(
    environment,
    ...['webhook', 'add', ...organization, '--url', receiver.url(organizationId), '--kinds', kind],
  );
  return {
    organizationId,
    webhookId,
    secret,
    answer: (...statuses: number[]) => receiver.answer(organizationId, ...statuses),
    received: (count: number) =>
      receiver.received(organizationId, count) as Promise<[Received, Received, Received]>,
    async sendEvent() {
      const args = ['send-event', ...organization, '--kind', kind, '--data', data];
      return (await local.walletJson<{ eventId: string }>(environment, ...args)).eventId;
    },
  };
}

/** Waits for the rows of attempts, which are written after the receiver's response. */
async function attempts(environment: string, eventId: string, count: number): Promise<readonly Attempt[]> {
  const read = () => local.walletJson<Attempt[]>(environment, 'deliveries', '--event', eventId);
  await eventually(async () => (await read()).length >= count);
  return read();
}

/** Fails the first attempt. */
async function expectRetry(environment: string): Promise<void> {
  const webhook = await openWebhook(environment);
  const { webhookId, secret, organizationId } = webhook;
  webhook.answer(503, 204);
  const eventId = await webhook.sendEvent();
  const [first, second] = await webhook.received(2);
  const origins = await fetch(`${local.outputs(environment).ApiBaseUrl}/webhook-origins`);
  const { signatureHeaders } = (await origins.json()) as { signatureHeaders: string[] };
  expect(signatureHeaders[0]).toBe('webhook-signature');
  for (const delivery of [first, second]) {
    expectDocumentedDelivery(delivery.headers, delivery.body);
    for (const header of signatureHeaders) verifyDelivery(delivery, secret, header.toLowerCase());
    expect(delivery.from).toBe(local.outputs(environment).WebhookOriginAddress);
  }
  expect(JSON.parse(first.body)).toMatchObject({ id: eventId, organizationId, kind: 'wallet.created' });
  expect(first.body).toContain(`"data":${data}`);
  expect(second.body).toBe(first.body);
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
  expect(second.headers['webhook-timestamp']).not.toBe(first.headers['webhook-timestamp']);

  const rows = await attempts(environment, eventId, 2);
  expect(rows).toMatchObject([
    { webhookId, status: 204, outcome: 'delivered', nextAttemptAt: null },
    { webhookId, status: 503, outcome: 'failed', nextAttemptAt: expect.any(String) },
  ]);
  const late = Date.parse(rows[0]?.date ?? '') - Date.parse(rows[1]?.nextAttemptAt ?? '');
  expect(late).toBeGreaterThan(-1_500);
}

// In all environments at once: retries take seconds.
it('an event is delivered from the webhook origin, as documented; after a failure again, not before the announced time', async () => {
  await Promise.all(running.map(({ name }) => expectRetry(name)));
});

it('redelivers on request events that a webhook missed while disabled, and events that it received', async () => {
  const [, { name: environment }] = running;
  const { webhookId, secret, sendEvent, received } = await openWebhook(environment);
  const webhook = ['--webhook', webhookId];
  const tested = await local.walletJson(environment, 'webhook', 'test', ...webhook);
  expect(tested).toMatchObject({ webhookId, outcome: 'delivered', status: 204 });
  await local.wallet(environment, 'webhook', 'disable', ...webhook);
  const eventId = await sendEvent();
  await attempts(environment, eventId, 0);
  await local.wallet(environment, 'webhook', 'enable', ...webhook);

  const undelivered = ['redeliver', ...webhook, '--since', '5m', '--undelivered'];
  expect(await local.walletJson(environment, ...undelivered)).toMatchObject({ redelivered: 1 });
  const [test, missed] = await received(2);
  expect(JSON.parse(test.body)).toMatchObject({ kind: 'webhook.test', data: { webhookId } });
  expect(JSON.parse(missed.body)).toMatchObject({ id: eventId });
  expect(missed.body).toContain(`"data":${data}`);

  const one = ['redeliver', ...webhook, '--event', eventId];
  expect(await local.walletJson(environment, ...one)).toMatchObject({ redelivered: 1 });
  const [, , again] = await received(3);
  expect(again.headers['webhook-id']).toBe(missed.headers['webhook-id']);
  expect(again.body).toBe(missed.body);
  for (const delivery of [test, missed, again]) verifyDelivery(delivery, secret, 'webhook-signature');
});
