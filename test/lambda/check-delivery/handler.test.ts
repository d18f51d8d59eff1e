import type { APIGatewayProxyEvent } from 'aws-lambda';
import { newEventId, writeEvent } from '../../../domain/event';
import { newId } from '../../../domain/ids';
import { probe } from '../../../domain/probe';
import { ok } from '../../../domain/result';
import { sign } from '../../../domain/signature';
import { createHandler, createMetrics } from '../../../lambda/check-delivery/handler';
import { recordLog } from '../../support/log';
import { expectDocumented } from '../../support/openapi';

const now = Date.parse('2026-11-23T12:00:00Z');
const [address, reserve, former] = ['203.0.113.7', '203.0.113.8', '203.0.113.9'] as const;
const other = '198.51.100.1';
const secretOf = (webhookId: string) => Buffer.from(webhookId.padEnd(32));
const derive = jest.fn(async (webhookId: string, version: number) =>
  ok(version === 1 ? secretOf(webhookId) : Buffer.alloc(32)),
);

/** What differs from a genuine, fresh delivery. `signedAgo`, `sentAgo`: seconds from the signature and from the event to now. */
type Change = Partial<Record<'webhookId' | 'source' | 'body' | 'id' | 'timestamp' | 'signature', string>> &
  Partial<Record<'signedAgo' | 'sentAgo', number>>;

async function check({ webhookId = probe.webhookId, source = address, ...change }: Change) {
  const metrics = createMetrics('test');
  const emitted: Record<string, unknown> = {};
  metrics.publishStoredMetrics = () => {
    Object.assign(emitted, metrics.serializeMetrics());
    return metrics;
  };
  const { signedAgo = 1, sentAgo = 2 } = change;
  const event = { id: newEventId(), organizationId: probe.organizationId, kind: probe.kind, data: '{}' };
  const body = writeEvent(event, new Date(now - sentAgo * 1_000));
  const timestamp = now / 1_000 - signedAgo;
  const signature = sign({ id: 'msg_1', timestamp, body }, [Buffer.alloc(32), secretOf(webhookId)]);
  const sent = { id: 'msg_1', timestamp: String(timestamp), body, signature, ...change };
  const log = recordLog();
  const addresses = { publishedAddresses: [address, reserve], formerAddress: former };
  const ports = { ...addresses, secrets: { secret: derive }, now: () => now };
  const responseHeaders = { Deprecation: '@1795132800' };
  const response = await createHandler({ ports, metrics, log, responseHeaders })({
    requestContext: { extendedRequestId: 'request-1', identity: { sourceIp: source } },
    multiValueHeaders: {
      'Webhook-Id': [sent.id],
      'Webhook-Timestamp': [sent.timestamp],
      'Webhook-Signature': [signature],
      'X-SVC-WEBHOOK-SIGNATURE': [signature],
      'Svc-Signature': [sent.signature],
    },
    pathParameters: { webhookId },
    body: sent.body,
  } as unknown as APIGatewayProxyEvent);
  const { statusCode: status, headers, body: text } = response;
  const received = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const path = `/webhook-origins/check/${webhookId}`;
  expectDocumented({ method: 'POST', path, status, body: text, headers: Object.fromEntries(received) });
  expect(headers).toMatchObject({ ...responseHeaders, 'Cache-Control': 'no-store' });
  if (status === 401) expect(headers?.['WWW-Authenticate']).toBe('StandardWebhooks');
  expect(JSON.stringify(log.lines)).not.toMatch(/v1,|"data"/);
  return { answer: text ? `${status} ${JSON.parse(text).code}` : `${status}`, emitted };
}

const ofSmoke = newId('wh');
const invalid = '401 signature_invalid';
const old = '422 delivery_too_old';
const elsewhere = '403 source_not_published';
it.each<[string, Change]>([
  ['204', {}],
  ['204', { source: reserve }],
  ['204', { source: former }],
  ['204', { sentAgo: 120 }],
  ['204', { webhookId: ofSmoke, sentAgo: 290, signedAgo: 290 }],
  [invalid, { body: '{}' }],
  [invalid, { id: 'msg_2' }],
  [invalid, { timestamp: String(now / 1_000) }],
  [invalid, { signature: '' }],
  [invalid, { signature: `v1,${'A'.repeat(43)}=` }],
  [invalid, { source: other, body: '{}' }],
  [old, { signedAgo: 301 }],
  [old, { signedAgo: -301 }],
  ['204', { sentAgo: -5 }],
  [old, { sentAgo: 121, source: other }],
  [old, { sentAgo: -6 }],
  [old, { sentAgo: (now - Date.parse('9999-12-31T23:59:59Z')) / 1_000 }],
  [elsewhere, { source: other }],
  [invalid, { webhookId: 'wh-1' }],
])('returns %s for %j, and the metrics that alarms read count the probe alone', async (expected, change) => {
  const { answer, emitted } = await check(change);
  expect(answer).toBe(expected);
  const metrics = { '204': ['Verified'], [elsewhere]: ['OtherAddress'] }[expected];
  const names = ['Verified', 'OtherAddress'].filter((name) => name in emitted);
  // The probe of the former region proves nothing of this one.
  const counts = change.webhookId === undefined && change.source !== former;
  expect(names).toEqual((counts && metrics) || []);
  // Those of alarms.
  const CloudWatchMetrics = [{ Namespace: 'WalletWebhooks', Dimensions: [['service', 'environment']] }];
  const values = { environment: 'test', service: 'check-delivery', _aws: { CloudWatchMetrics } };
  expect(emitted).toMatchObject(names.length > 0 ? values : {});
});

it('refuses a stranger before it asks for a secret, unless the webhook is the probe', async () => {
  derive.mockClear();
  expect(await check({ webhookId: newId('wh'), source: other })).toMatchObject({ answer: elsewhere });
  expect(derive).not.toHaveBeenCalled();
});
