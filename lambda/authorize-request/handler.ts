import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { bind } from '../shared/bind';
import { logCodes } from '../shared/log';
import { authorizeRequest } from './authorize-request';
import { createDependencies, type Dependencies } from './dependencies';
import { readBearerToken } from './request';

/**
 * Decides for the gateway whether a request's access token is good. The policy is cached per token, so it covers
 * every route of the stage and follows from the token alone; the handlers judge the moment and the rest of the request.
 * The request's id is for the log alone, so one that the caller may have chosen will do.
 */
export const createHandler =
  ({ verifyAccessToken, log }: Dependencies) =>
  async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const bearer = readBearerToken(event);
    const decision = authorizeRequest(bearer.ok ? verifyAccessToken(bearer.value) : bearer);
    const requestId = event.requestContext.extendedRequestId ?? event.requestContext.requestId;
    if (!decision.ok) {
      const { code, detail, cause } = decision.error;
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
