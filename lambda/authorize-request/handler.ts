import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { fail, ok, type Result } from '../../domain/result';
import { tokenDetails } from '../../domain/routes';
import { accessToken, type Caller, readCaller } from '../../domain/tokens';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, logCodes } from '../shared/log';
import { readVariables } from '../shared/variables';
import { createJwtVerifier, type TokenRefused } from '../shared/verify-jwt';
import { decisionSeconds, variables } from './variables';

export function createDependencies() {
  const { TOKEN_ISSUER, TOKEN_KEYS, TOKEN_LIFETIME } = readVariables(variables, process.env);
  const jwks = JSON.parse(TOKEN_KEYS) as Jwks;
  return {
    verifyAccessToken: createAccessTokenVerifier(jwks, TOKEN_ISSUER, Number(TOKEN_LIFETIME)),
    log: createLog('authorize-request'),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** The gateway caches the policy per token: it covers every route of the stage. The handlers check the times again. */
export const createHandler =
  ({ verifyAccessToken, log }: Dependencies) =>
  async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const token = readBearerToken(event);
    const verified = token ? verifyAccessToken(token) : malformed('not_a_bearer_token');
    // Only logged, so a caller-supplied id is acceptable.
    const requestId = event.requestContext.extendedRequestId ?? event.requestContext.requestId;
    if (!verified.ok) {
      const { code, cause } = verified.error;
      log.info('Request refused', { logCode: logCodes.requestRefused, requestId, code, cause });
      return policy('Deny', event.methodArn, 'anonymous', { code, detail: tokenDetails[code] });
    }
    const { caller, notBefore, expiresAt } = verified.value;
    const { identityId } = caller;
    log.info('Request allowed', { logCode: logCodes.requestAllowed, requestId, identityId });
    return policy('Allow', event.methodArn, identityId, {
      sub: identityId,
      org: caller.organizationId,
      kind: caller.kind,
      nbf: String(notBefore),
      exp: String(expiresAt),
    });
  };

// If the header is sent several times, the last one counts, by which the gateway caches; the functions then refuse the request:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-input.html
function readBearerToken(event: APIGatewayRequestAuthorizerEvent): string | undefined {
  const [, value = ''] =
    Object.entries(event.headers ?? {}).findLast(([name]) => name.toLowerCase() === 'authorization') ?? [];
  return /^Bearer +(\S+)$/i.exec(value)?.[1];
}

/** A verified access token. Times are in seconds since the epoch. */
export interface AccessToken {
  readonly caller: Caller;
  /** Up to `decisionSeconds` ahead: the function that serves the request checks both times. */
  readonly notBefore: number;
  readonly expiresAt: number;
}

/** Denials are cached too: a token that becomes valid within the cache time is accepted, and the handlers check it again. */
export function createAccessTokenVerifier(jwks: Jwks, issuer: string, lifetimeSeconds: number) {
  const verify = createJwtVerifier(jwks, {
    issuer,
    audience: accessToken.audience,
    types: [undefined, accessToken.type, 'at+jwt'],
    lifetimeSeconds,
    earlySeconds: decisionSeconds,
  });

  return (token: string): Result<AccessToken, TokenRefused> => {
    const verified = verify(token);
    if (!verified.ok) return verified;
    const { iat, nbf, exp } = verified.value;
    const caller = readCaller(verified.value);
    if (!caller) return malformed('caller_claims_not_allowed');
    if (nbf === undefined) return malformed('not_before_missing');
    return ok({ caller, notBefore: Math.max(iat, nbf), expiresAt: exp });
  };
}

const malformed = (cause: string) => fail<TokenRefused>({ code: 'token_malformed', cause });

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

export const handler = bindDependencies(createHandler, createDependencies);
