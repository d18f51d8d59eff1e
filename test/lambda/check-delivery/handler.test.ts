import type { APIGatewayProxyEvent } from 'aws-lambda';
import { newEventId, writeEvent } from '../../../domain/event';
import { newId } from '../../../domain/ids';
import { probe } from '../../../domain/probe';
import { fail, ok } from '../../../domain/result';
import { sign } from '../../../domain/signature';
import { createHandler, createMetrics } from '../../../lambda/check-delivery/handler';
import { recordLog } from '../../support/log';
import { expectDocumented } from '../../support/openapi';

const [address, other] = ['203.0.113.7', '198.51.100.1'];
const secret = Buffer.alloc(32, 1);

/** Sends a delivery to the function. */
async function check({
  webhookId = String(probe.webhookId),
  source = address,
  key = secret,
  ago = 1,
  broken = false,
  derives = true,
}) {
  const metrics = createMetrics('test');
  let emitted: Record<string, unknown> = {};
  metrics.publishStoredMetrics = () => {
    emitted = { ...metrics.serializeMetrics() };
    return metrics;
  };
  const event = { id: newEventId(), organizationId: probe.organizationId, kind: probe.kind, data: '{}' };
  const sentAt = Date.now() - ago * 1_000;
  const body = writeEvent(event, new Date(sentAt));
  const timestamp = Math.floor(sentAt / 1_000);
  const signature = sign({ id: 'msg_1', timestamp, body }, [key]);
  const headers = {
    'Webhook-Id': ['msg_1'],
    'Webhook-Timestamp': [String(timestamp)],
    'Webhook-Signature': [signature],
    'X-SVC-WEBHOOK-SIGNATURE': [signature],
    'Svc-Signature': [broken ? 'v1,' : signature],
  };
  const log = recordLog();
  const unavailable = fail({ kind: 'secret_unavailable', reason: 'timeout' } as const);
  const handle = createHandler({
    ports: {
      publishedAddresses: [address],
      secrets: { secret: async () => (derives ? ok(secret) : unavailable) },
      now: Date.now,
    },
    metrics,
    log,
    responseHeaders: { Deprecation: '@1795132800' },
  });
  const requestContext = { extendedRequestId: 'request-1', identity: { sourceIp: source } };
  const request = { requestContext, multiValueHeaders: headers, pathParameters: { webhookId }, body };
  const { statusCode, headers: sent, body: text } = await handle(request as unknown as APIGatewayProxyEvent);
  const contentType = sent?.['Content-Type'];
  const path = `/webhook-origins/check/${webhookId}`;
  expectDocumented({
    method: 'POST',
    path,
    status: statusCode,
    contentType: String(contentType ?? ''),
    body: text,
  });
  expect(sent).toMatchObject({ Deprecation: '@1795132800', 'Cache-Control': 'no-store' });
  expect(JSON.stringify(log.lines)).not.toMatch(/v1,|"data"/);
  const { Verified, AgeMs, OtherAddress } = emitted;
  return [
    statusCode,
    ...Object.entries({ Verified, AgeMs, OtherAddress }).flatMap(([name, value]) =>
      value === undefined ? [] : name,
    ),
  ];
}

it.each([
  ['a genuine, fresh delivery', {}, [204, 'Verified', 'AgeMs']],
  ['a changed signature', { key: Buffer.alloc(32) }, [401]],
  ['one header of three without the signature', { broken: true }, [401]],
  ['an old timestamp', { ago: 400 }, [422]],
  ['an address that is not published', { source: other }, [403, 'OtherAddress']],
  ['a stranger', { source: other, key: Buffer.alloc(32) }, [401]],
  ["smoke's delivery", { webhookId: newId('wh') }, [204]],
  ["a stranger at smoke's webhook", { webhookId: newId('wh'), source: other }, [403]],
  ['a secret that KMS does not derive', { derives: false }, [503]],
])(
  '%s has a status of its own, and the metrics that alarms read count the probe alone',
  async (_, change, expected) => {
    expect(await check(change)).toEqual(expected);
  },
);

it('the metrics have the environment as dimension', () => {
  const metrics = createMetrics('test');
  metrics.addMetric('Verified', 'Count', 1);
  expect(metrics.serializeMetrics()).toMatchObject({
    ...{ environment: 'test', service: 'check-delivery' },
    _aws: { CloudWatchMetrics: [{ Namespace: 'WalletWebhooks', Dimensions: [['service', 'environment']] }] },
  });
});
