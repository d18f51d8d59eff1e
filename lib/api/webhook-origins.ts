import { MockIntegration, PassthroughBehavior, type Resource } from 'aws-cdk-lib/aws-apigateway';
import { acknowledgePublicMethod } from '../checks/acknowledgements/api';
import type { Environment } from '../environment/environment';
import { staticValues } from './gateway-responses';

export interface WebhookOriginsProps {
  readonly environment: Environment;
  /** The fixed address, IPv4, without a prefix length. */
  readonly address: string;
  /** Sent besides the endpoint's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Both carry the signature in every environment: which applies where is not specified. */
export const signatureHeaders = ['X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'] as const;

/** Seconds. The address never changes; the age bounds how long a deprecation goes unnoticed. */
const MAX_AGE = 3600;

/**
 * `GET /webhook-origins`: the addresses that receivers put on their allow-lists, the headers that they verify, and
 * whether the environment is deprecated, straight from the gateway. It works
 * whatever becomes of the functions and the database, and needs no token.
 */
export function addWebhookOrigins(resource: Resource, props: WebhookOriginsProps): void {
  const headers = staticValues({
    'Content-Type': 'application/json',
    'Cache-Control': `public, max-age=${MAX_AGE}`,
    ...props.headers,
  });
  const parameters = Object.entries(headers).map(
    ([name, value]) => [`method.response.header.${name}`, value] as const,
  );
  const { name, region, deprecation } = props.environment;
  const body = JSON.stringify({
    environment: name,
    region,
    addresses: [`${props.address}/32`],
    signatureHeaders,
    deprecated: deprecation !== undefined,
    ...(deprecation && { deprecation }),
  });

  const integration = new MockIntegration({
    requestTemplates: { 'application/json': '{"statusCode": 200}' },
    passthroughBehavior: PassthroughBehavior.NEVER,
    integrationResponses: [
      {
        statusCode: '200',
        responseParameters: Object.fromEntries(parameters),
        responseTemplates: { 'application/json': body },
      },
    ],
  });

  const method = resource.addMethod('GET', integration, {
    operationName: 'listWebhookOrigins',
    methodResponses: [
      {
        statusCode: '200',
        responseParameters: Object.fromEntries(parameters.map(([name]) => [name, true])),
      },
    ],
  });
  acknowledgePublicMethod(method);
}
