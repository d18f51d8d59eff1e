import { MockIntegration, PassthroughBehavior, type Resource } from 'aws-cdk-lib/aws-apigateway';
import { acknowledgePublicMethod } from '../checks/acknowledgements/api';
import type { Environment } from '../environment';
import { staticValues } from './gateway-responses';

export interface WebhookOriginsProps {
  readonly environment: Environment;
  /** The fixed address, IPv4, without a prefix length. */
  readonly address: string;
  /** Likewise: where webhooks come from in an announced emergency only. @default - the row asks for none */
  readonly reserve?: string | undefined;
  /** Sent besides the endpoint's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** All carry the same signature: Standard Webhooks' own name, then two of which it is not specified where each applies. */
export const signatureHeaders = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'] as const;

/**
 * `GET /webhook-origins`: the addresses that receivers put on their allow-lists, the headers that they verify, and
 * whether the environment is deprecated. The gateway answers itself: no token, no function, no database. `addresses`
 * stays as it is while the reserve is in use: who allows both has nothing to do then.
 */
export function addWebhookOrigins(resource: Resource, props: WebhookOriginsProps): void {
  const { environment, address, reserve } = props;
  const { name, region, deprecation } = environment;
  const headers = staticValues({
    'Content-Type': 'application/json',
    // The addresses never change; an hour bounds how long a deprecation goes unnoticed.
    'Cache-Control': 'public, max-age=3600',
    ...props.headers,
  });
  const parameters = Object.entries(headers).map(
    ([name, value]) => [`method.response.header.${name}`, value] as const,
  );
  const body = JSON.stringify({
    environment: name,
    region,
    addresses: [`${address}/32`],
    ...(reserve && { reserve: [`${reserve}/32`] }),
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
