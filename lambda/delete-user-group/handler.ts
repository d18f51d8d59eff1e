import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { createLog, logCodes } from '../shared/log';
import { readVariables } from '../shared/variables';
import { deleteInDatabase } from './delete-in-database';
import { createUserActionVerifier, deleteUserGroup } from './delete-user-group';
import { problemResponse } from './problems';
import { variables } from './variables';

export function createDependencies() {
  const { TOKEN_ISSUER, USER_ACTION_KEYS, RESPONSE_HEADERS } = readVariables(variables, process.env);
  return {
    verifyUserAction: createUserActionVerifier(JSON.parse(USER_ACTION_KEYS) as Jwks, TOKEN_ISSUER),
    deleteUserGroup: deleteInDatabase(connectDatabase(process.env)),
    responseHeaders: JSON.parse(RESPONSE_HEADERS) as Readonly<Record<string, string>>,
    log: createLog('delete-user-group'),
    now: () => Date.now(),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** `DELETE /auth/user-groups/{userGroupId}`, as `lib/openapi.yaml` describes it. */
export const createHandler =
  ({ log, responseHeaders, ...ports }: Dependencies) =>
  async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const requestId = readRequestId(event);
    const response = await respond();
    return { ...response, headers: { ...response.headers, ...responseHeaders } };

    async function respond(): Promise<APIGatewayProxyResult> {
      try {
        const outcome = await deleteUserGroup(event, requestId, ports);
        if (!outcome.ok) {
          log.warn('Deletion refused', { logCode: logCodes.deletionRefused, requestId, ...outcome.error });
          return problemResponse(outcome.error.code, requestId);
        }
        log.info('Deletion completed', { logCode: logCodes.deletionCompleted, requestId });
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
        return { statusCode: 200, headers, body: '{}' };
      } catch (error) {
        log.error('Deletion failed', { logCode: logCodes.deletionFailed, requestId, error: error as Error });
        return problemResponse('internal_error', requestId);
      }
    }
  };

/**
 * The gateway's `extendedRequestId`. Callers can choose `requestId`, so nothing may depend on it: by repeating one, a
 * caller could disguise a replay as a retry.
 *
 * @throws Error if missing, which is a bug: the gateway always sets it.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html ($context.requestId)
 */
function readRequestId({ requestContext }: APIGatewayProxyEvent): string {
  const { extendedRequestId } = requestContext as { readonly extendedRequestId?: string };
  if (!extendedRequestId) throw new Error('The request has no extended request id');
  return extendedRequestId;
}

export const handler = bind(createHandler, createDependencies);
