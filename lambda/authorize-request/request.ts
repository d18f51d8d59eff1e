import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { fail, ok, type Result } from '../shared/result';
import type { TokenRefused } from '../tokens/verify-jwt';

/**
 * Takes the bearer token (RFC 6750) from the one `Authorization` header that the request may have. The gateway's guide
 * shows an event with `headers` alone, which has one value of each.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html
 */
export function readBearerToken(event: APIGatewayRequestAuthorizerEvent): Result<string, TokenRefused> {
  const values = Object.entries<string | string[] | undefined>(event.multiValueHeaders ?? event.headers ?? {})
    .filter(([name]) => name.toLowerCase() === 'authorization')
    .flatMap(([, value]) => value ?? []);
  if (values.length !== 1) return fail({ kind: 'malformed', cause: 'not_one_authorization_header' });
  const token = /^Bearer +(\S+)$/i.exec(values[0] ?? '')?.[1];
  return token ? ok(token) : fail({ kind: 'malformed', cause: 'not_a_bearer_token' });
}
