import fc from 'fast-check';
import { parseEvent } from '../../../domain/event';
import { addOrganization, addWebhook, disableWebhook } from '../../support/webhooks';
import { startWebhookRegion, type WebhookRegion } from './webhook-region';

let region: WebhookRegion;
let organizationId: string;
beforeAll(async () => {
  region = await startWebhookRegion();
  organizationId = await addOrganization(region.owner);
});
afterAll(() => region.stop());

const args = (...more: string[]) => [
  'send-event',
  '--organization',
  organizationId,
  '--kind',
  'wallet.created',
  ...more,
];

/** The one message on the events queue. */
async function sent() {
  const [message, ...others] = await region.events.receive();
  expect(others).toEqual([]);
  return { body: message?.body ?? '' };
}

it('prints the id of the event that it put on the queue', async () => {
  const before = Date.now();
  const { eventId } = await region.json<{ eventId: string }>(...args('--data', '{"walletId":"wa-1"}'));
  const { body } = await sent();
  const { date, ...event } = JSON.parse(body);
  expect(event).toEqual({
    id: eventId,
    organizationId,
    kind: 'wallet.created',
    data: { walletId: 'wa-1' },
  });
  expect(Date.parse(date)).toBeGreaterThanOrEqual(before - 1);
  expect(Date.parse(date)).toBeLessThanOrEqual(Date.now());
});

it('prints the bare id without --json, and how to see its way on stderr', async () => {
  const { exitCode, stdout, stderr } = await region.wallet(...args());
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^evt_[0-9a-f]{32}\n$/);
  expect(stderr).toContain(`--event ${stdout.trim()}`);
  expect(JSON.parse((await sent()).body)).toMatchObject({ id: stdout.trim(), data: {} });
});

it('says when no webhook will get the event', async () => {
  const silent = 'nothing will be delivered';
  const webhookId = await addWebhook(region.owner, organizationId, { kinds: ['wallet.created'] });
  expect((await region.wallet(...args())).stderr).not.toContain(silent);
  expect((await region.wallet(...args('--kind', 'key.created'))).stderr).toContain(silent);
  await disableWebhook(region.owner, webhookId);
  expect((await region.wallet(...args())).stderr).toContain(silent);
  await region.emptyQueues();
});

it('sends an event again under the id that is given', async () => {
  await region.json(...args('--id', 'evt_again'));
  expect(JSON.parse((await sent()).body)).toMatchObject({ id: 'evt_again' });
});

it('leaves the data as it was typed, numbers beyond 2^53 included', async () => {
  await region.json(...args('--data', ' {"wei": 12345678901234567890} '));
  expect((await sent()).body).toMatch(/,"data":\{"wei": 12345678901234567890\}\}$/);
});

it('sends nothing that the fan-out would set aside', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (data) => {
      await region.json(...args('--data', data));
      expect(parseEvent((await sent()).body)).toMatchObject({ ok: true });
    }),
    { numRuns: 20 },
  );
  const halved = await region.wallet(...args('--data', String.raw`{"a":["\ud83d"]}`));
  expect(halved).toMatchObject({ exitCode: 2, stdout: '' });
  expect(halved.stderr).toContain('unpaired surrogate');
});

it('takes data until the event has 64 KiB', async () => {
  await region.json(...args('--id', 'evt_1', '--data', '""'));
  const room = 65_536 - (await sent()).body.length;
  await region.json(...args('--id', 'evt_1', '--data', `"${'x'.repeat(room)}"`));
  expect(parseEvent((await sent()).body)).toMatchObject({ ok: true });

  const tooLarge = await region.wallet(...args('--id', 'evt_1', '--data', `"${'x'.repeat(room + 1)}"`));
  expect(tooLarge).toMatchObject({ exitCode: 2, stdout: '' });
  expect(tooLarge.stderr).toContain('The event has 65537 bytes');
});
