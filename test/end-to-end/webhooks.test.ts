import type { Attempt } from '../../domain/delivery';
import { eventually } from '../support/eventually';
import { localEnvironment } from '../support/local-environment';
import { expectDocumentedDelivery } from '../support/openapi';
import type { Organization } from '../support/organization';
import { openLocalDatabase } from '../support/postgres';
import { running } from '../support/rows';
import { useShared } from '../support/use-shared';
import { startWebhookReceiver, verifyDelivery } from '../support/webhook-receiver';

const data = '{"wei":12345678901234567890}';
const local = useShared(localEnvironment);
const receiver = useShared(startWebhookReceiver);

// In all environments at once: retries take seconds.
it('an event is delivered from the webhook origin, as documented; after a failure again, not before the announced time; missed and received ones on request', async () => {
  await Promise.all(running.map(({ name }) => expectDeliveries(name)));
});

/** The first attempt fails, and the second event is missed. */
async function expectDeliveries(environment: string): Promise<void> {
  const wallet = <T>(...args: string[]) => local.walletJson<T>(environment, ...args);
  const { organizationId } = await wallet<Organization>('seed');
  const organization = ['--organization', organizationId];
  const kinds = ['--kinds', 'wallet.created,webhook.test'];
  const adding = ['webhook', 'add', ...organization, '--url', receiver.url(organizationId), ...kinds];
  const { webhookId, secret } = await wallet<{ webhookId: string; secret: string }>(...adding);
  const webhook = ['--webhook', webhookId];
  const event = [...organization, '--kind', 'wallet.created', '--data', data];
  const sendEvent = async () => (await wallet<{ eventId: string }>('send-event', ...event)).eventId;
  const origins = await fetch(`${local.outputs(environment).ApiBaseUrl}/webhook-origins`);
  const { signatureHeaders } = (await origins.json()) as { signatureHeaders: string[] };
  expect(signatureHeaders[0]).toBe('webhook-signature');

  receiver.answer(organizationId, 503, 204);
  const eventId = await sendEvent();
  // They are written after the receiver's response.
  const attempts = () => wallet<Attempt[]>('deliveries', '--event', eventId);
  await eventually(async () => (await attempts()).length >= 2);
  const rows = await attempts();
  expect(rows).toMatchObject([
    { webhookId, status: 204, outcome: 'delivered', nextAttemptAt: null },
    { webhookId, status: 503, outcome: 'failed', nextAttemptAt: expect.any(String) },
  ]);
  const late = Date.parse(rows[0]?.date ?? '') - Date.parse(rows[1]?.nextAttemptAt ?? '');
  expect(late).toBeGreaterThan(-1_500);

  await local.wallet(environment, 'webhook', 'disable', ...webhook);
  const missedId = await sendEvent();
  const { client, close } = await openLocalDatabase(local.stateDirectory, environment);
  const stored = () => client.query('select from webhook_events where event_id = $1', [missedId]);
  await eventually(async () => (await stored()).rowCount === 1);
  await close();
  await local.wallet(environment, 'webhook', 'enable', ...webhook);
  const tested = await wallet('webhook', 'test', ...webhook);
  expect(tested).toMatchObject({ webhookId, outcome: 'delivered', status: 204 });
  for (const which of ['--since 5m --undelivered', `--event ${eventId}`])
    expect(await wallet('redeliver', ...webhook, ...which.split(' '))).toMatchObject({ redelivered: 1 });

  const received = await receiver.received(organizationId, 5);
  for (const delivery of received) {
    expectDocumentedDelivery(delivery.headers, delivery.body);
    for (const header of signatureHeaders) verifyDelivery(delivery, secret, header.toLowerCase());
    expect(delivery.from).toBe(local.outputs(environment).WebhookOriginAddress);
  }
  const [first, second, , ...redelivered] = received;
  expect(first?.body).toContain(`"data":${data}`);
  expect(second?.body).toBe(first?.body);
  const again = redelivered.find(({ body }) => body === first?.body);
  const missed = redelivered.find((delivery) => delivery !== again);
  expect(JSON.parse(String(missed?.body))).toMatchObject({ id: missedId });
  const ids = [first, second, again].map((delivery) => delivery?.headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
}
