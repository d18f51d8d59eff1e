import { Metrics } from '@aws-lambda-powertools/metrics';
import { KMSClient } from '@aws-sdk/client-kms';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Measured, type MetricName, metricNamespace } from '../../domain/metrics';
import { probe } from '../../domain/probe';
import { signatureHeaders } from '../../domain/signature';
import { bindDependencies } from '../shared/bind-dependencies';
import { readHeader, respond } from '../shared/http';
import { createLog } from '../shared/log';
import { readVariables } from '../shared/variables';
import { createWebhookSecrets } from '../shared/webhook-secrets';
import { type Checked, type CheckPorts, checkDelivery } from './check-delivery';
import { variables } from './variables';

export const createMetrics = (environment: string) =>
  new Metrics({
    namespace: metricNamespace,
    serviceName: 'check-delivery' satisfies Measured,
    defaultDimensions: { environment },
  });

export function createDependencies() {
  const { ENVIRONMENT, PUBLISHED_ADDRESSES, FORMER_ADDRESS, WEBHOOK_SECRETS_KEY_ID, RESPONSE_HEADERS } =
    readVariables(variables, process.env);
  const ports: CheckPorts = {
    publishedAddresses: PUBLISHED_ADDRESSES.split(','),
    formerAddress: FORMER_ADDRESS,
    secrets: createWebhookSecrets({ kms: new KMSClient({}), keyId: WEBHOOK_SECRETS_KEY_ID }),
    now: Date.now,
  };
  return {
    ports,
    metrics: createMetrics(ENVIRONMENT),
    responseHeaders: JSON.parse(RESPONSE_HEADERS) as Readonly<Record<string, string>>,
    log: createLog('check-delivery'),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** `POST /webhook-origins/check/{webhookId}`, as `lib/openapi.yaml` describes it. */
export const createHandler = ({ ports, metrics, log, responseHeaders }: Dependencies) => {
  const responding = { operation: 'checkDelivery', log, responseHeaders } as const;
  return (event: APIGatewayProxyEvent) =>
    respond(event, responding, async () => {
      const webhookId = event.pathParameters?.webhookId ?? '';
      const named = (name: string) => readHeader(event, name).at(-1);
      // The peer of the TCP connection. A client cannot set it, as it can X-Forwarded-For:
      // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
      const source = event.requestContext.identity.sourceIp;
      const checked = await checkDelivery(
        {
          webhookId,
          source,
          id: named('webhook-id'),
          timestamp: named('webhook-timestamp'),
          signatures: signatureHeaders.map((name) => named(name.toLowerCase())),
          body: event.body ?? '',
        },
        ports,
      );
      // The former region's probe, which reaches this one by the domain name, proves nothing of this one.
      if (webhookId === probe.webhookId && source !== ports.formerAddress) count(checked);
      return checked;
    });

  /** Alarms read these. */
  function count(checked: Checked): void {
    if (!checked.ok && checked.error.code !== 'source_not_published') return;
    const name: MetricName<'check-delivery'> = checked.ok ? 'Verified' : 'OtherAddress';
    metrics.addMetric(name, 'Count', 1);
    metrics.publishStoredMetrics();
  }
};

export const handler = bindDependencies(createHandler, createDependencies);
