import { newEventId, writeEvent } from '../../../domain/event';
import { newId } from '../../../domain/ids';
import { probe } from '../../../domain/probe';
import { ok } from '../../../domain/result';
import { sign } from '../../../domain/signature';
import { checkDelivery } from '../../../lambda/check-delivery/check-delivery';

const now = Date.parse('2026-11-23T12:00:00Z');
const [address, reserve, other] = ['203.0.113.7', '203.0.113.8', '198.51.100.1'];
const secretOf = (webhookId: string) => Buffer.from(webhookId.padEnd(32));
const derived = jest.fn(async (webhookId: string, version: number) =>
  ok(version === 1 ? secretOf(webhookId) : Buffer.alloc(32)),
);
beforeEach(() => derived.mockClear());

interface Change {
  readonly webhookId?: string;
  readonly source?: string;
  /** Seconds from the signature to now. */
  readonly signedAgo?: number;
  /** Seconds from the event to now. */
  readonly sentAgo?: number;
  readonly body?: string;
  readonly id?: string;
  readonly timestamp?: string;
  readonly signatures?: readonly (string | undefined)[];
}

function check({
  webhookId = probe.webhookId,
  source = address,
  signedAgo = 1,
  sentAgo = 2,
  ...change
}: Change) {
  const event = { id: newEventId(), organizationId: probe.organizationId, kind: probe.kind, data: '{}' };
  const body = writeEvent(event, new Date(now - sentAgo * 1_000));
  const timestamp = now / 1_000 - signedAgo;
  const signature = sign({ id: 'msg_1', timestamp, body }, [Buffer.alloc(32), secretOf(webhookId)]);
  return checkDelivery(
    {
      ...{ webhookId, source, id: 'msg_1', timestamp: String(timestamp), body },
      signatures: [signature, signature, signature],
      ...change,
    },
    { publishedAddresses: [address, reserve], secrets: { secret: derived }, now: () => now },
  );
}

const ofSmoke = newId('wh');

it.each([
  [{}],
  [{ source: reserve }],
  [{ sentAgo: 120 }],
  [{ webhookId: ofSmoke, sentAgo: 290, signedAgo: 290 }],
])(
  'accepts a valid, fresh delivery from a published address, and tells its age: %j',
  async (change: Change) => {
    expect(await check(change)).toEqual(ok((change.sentAgo ?? 2) * 1_000));
  },
);

it.each<[string, Change]>([
  ['signature_invalid', { body: '{}' }],
  ['signature_invalid', { id: 'msg_2' }],
  ['signature_invalid', { timestamp: String(now / 1_000) }],
  ['signature_invalid', { timestamp: 'soon' }],
  ['signature_invalid', { signatures: [undefined] }],
  ['signature_invalid', { signatures: [`v1,${'A'.repeat(43)}=`] }],
  ['signature_invalid', { source: other, body: '{}' }],
  ['delivery_too_old', { signedAgo: 301 }],
  ['delivery_too_old', { signedAgo: -301 }],
  ['delivery_too_old', { sentAgo: 121 }],
  ['delivery_too_old', { sentAgo: 121, source: other }],
  ['source_not_published', { source: other }],
  ['source_not_published', { source: '' }],
  ['delivery_too_old', { webhookId: ofSmoke, signedAgo: 301 }],
  ['signature_invalid', { webhookId: ofSmoke, body: '{}' }],
  ['signature_invalid', { webhookId: '../probe' }],
])('refuses with %s: %j', async (code, change) => {
  expect(await check(change)).toEqual({ ok: false, error: { code } });
});

it('refuses a stranger before it asks for a secret, unless the webhook is the probe', async () => {
  const strangers = Array.from({ length: 1_000 }, () => check({ webhookId: newId('wh'), source: other }));
  for (const refused of await Promise.all(strangers))
    expect(refused).toEqual({ ok: false, error: { code: 'source_not_published' } });
  expect(derived).not.toHaveBeenCalled();
});
