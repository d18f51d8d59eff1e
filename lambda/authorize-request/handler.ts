import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { fail, ok, type Result } from '../../domain/result';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/environment';
import { createLog, logCodes } from '../shared/log';
import { tokenProblems } from '../tokens/token-problems';
import type { TokenRefused } from '../tokens/verify-jwt';
import { createAccessTokenVerifier } from './access-token';
import { defaultLifetimeSeconds, variables } from './environment';

export function createDependencies() {
  const { TOKEN_ISSUER, TOKEN_KEYS, TOKEN_LIFETIME } = readVariables(variables, {
    TOKEN_LIFETIME: String(defaultLifetimeSeconds),
    ...process.env,
  });
  return {
    verifyAccessToken: createAccessTokenVerifier(
      JSON.parse(TOKEN_KEYS) as Jwks,
      TOKEN_ISSUER,
      Number(TOKEN_LIFETIME),
    ),
    log: createLog('authorize-request'),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/**
 * Takes the bearer token (RFC 6750) from the `Authorization` header. Of several it is the last, which is in `headers` and
 * by which the decision is cached: a decision from the others would be that of the next request with this token. The
 * functions refuse several.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html
 */
function readBearerToken(event: APIGatewayRequestAuthorizerEvent): Result<string, TokenRefused> {
  const [, value = ''] =
    Object.entries(event.headers ?? {}).findLast(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const token = /^Bearer +(\S+)$/i.exec(value)?.[1];
  return token ? ok(token) : fail({ kind: 'malformed', cause: 'not_a_bearer_token' });
}

/**
 * Decides for the gateway whether a request's access token is good. The policy is cached per token, so it covers
 * every route of the stage and follows from the token alone; the handlers judge the moment and the rest of the request.
 * The request's id is for the log alone, so one that the caller may have chosen will do.
 */
export const createHandler =
  ({ verifyAccessToken, log }: Dependencies) =>
  async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const bearer = readBearerToken(event);
    const decision = bearer.ok ? verifyAccessToken(bearer.value) : bearer;
    const requestId = event.requestContext.extendedRequestId ?? event.requestContext.requestId;
    if (!decision.ok) {
      const { kind, cause } = decision.error;
      const { code, detail } = tokenProblems[kind];
      log.info('Request refused', { logCode: logCodes.requestRefused, requestId, code, cause });
      return policy('Deny', event.methodArn, 'anonymous', { code, detail });
    }
    const { caller, notBefore, expiresAt } = decision.value;
    log.info('Request allowed', {
      logCode: logCodes.requestAllowed,
      requestId,
      identityId: caller.identityId,
    });
    return policy('Allow', event.methodArn, caller.identityId, {
      sub: caller.identityId,
      org: caller.organizationId,
      kind: caller.kind,
      nbf: String(notBefore),
      exp: String(expiresAt),
    });
  };

function policy(
  effect: 'Allow' | 'Deny',
  methodArn: string,
  principalId: string,
  context: Record<string, string>,
): APIGatewayAuthorizerResult {
  const [api, stage] = methodArn.split('/');
  return {
    principalId,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: effect, Resource: `${api}/${stage}/*` }],
    },
    context,
  };
}

export const handler = bind(createHandler, createDependencies);
