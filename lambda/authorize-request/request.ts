import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { fail, ok, type Result } from '../../domain/result';
import type { TokenRefused } from '../tokens/verify-jwt';

/**
 * Takes the bearer token (RFC 6750) from the `Authorization` header. Of several it is the last, which is in `headers` and
 * by which the decision is cached: a decision from the others would be that of the next request with this token. The
 * functions refuse several.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html
 */
export function readBearerToken(event: APIGatewayRequestAuthorizerEvent): Result<string, TokenRefused> {
  const [, value = ''] =
    Object.entries(event.headers ?? {}).findLast(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const token = /^Bearer +(\S+)$/i.exec(value)?.[1];
  return token ? ok(token) : fail({ kind: 'malformed', cause: 'not_a_bearer_token' });
}
