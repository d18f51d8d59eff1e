import { createHash } from 'node:crypto';
import { MockIntegration, PassthroughBehavior } from 'aws-cdk-lib/aws-apigateway';
import { signatureHeaders } from '../../domain/signature';
import type { Environment } from '../environment/schema';
import type { WebhookOrigin } from '../network/webhook-origin';
import { deprecationHeaders, staticValues } from './gateway-responses';

/**
 * The gateway's own response to `GET` and `HEAD /webhook-origins`: no token, no function, no database. `addresses` does not change while
 * the reserve is in use; a promotion of the standby swaps both: a receiver that allows both does not have to act.
 */
export function webhookOrigins({ name, region, deprecation }: Environment, origin: WebhookOrigin) {
  const { address, reserves } = origin;
  const rest = {
    signatureHeaders,
    deprecated: deprecation !== undefined,
    ...(deprecation && { deprecation }),
  };
  const body = {
    environment: name,
    region,
    addresses: [`${address}/32`],
    ...(reserves.length > 0 && { reserve: reserves.map((each) => `${each}/32`) }),
    ...rest,
  };
  // The addresses are known at deployment, the rest at synthesis.
  const version = createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 8);
  const headers = staticValues({
    'Content-Type': 'application/json',
    // The addresses never change; clients see a deprecation within an hour.
    'Cache-Control': 'public, max-age=3600',
    ETag: `"${[address, ...reserves, version].join('-')}"`,
    ...deprecationHeaders(deprecation),
  });
  const parameters = Object.entries(headers).map(
    ([header, value]) => [`method.response.header.${header}`, value] as const,
  );
  const integration = new MockIntegration({
    requestTemplates: { 'application/json': '{"statusCode": 200}' },
    passthroughBehavior: PassthroughBehavior.NEVER,
    integrationResponses: [
      {
        statusCode: '200',
        responseParameters: Object.fromEntries(parameters),
        responseTemplates: { 'application/json': JSON.stringify(body) },
      },
    ],
  });
  const responseParameters = Object.fromEntries(parameters.map(([header]) => [header, true]));
  return { integration, methodResponses: [{ statusCode: '200', responseParameters }] };
}
