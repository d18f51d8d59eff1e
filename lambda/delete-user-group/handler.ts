import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/environment';
import { createLog, logCodes } from '../shared/log';
import { problemResponse } from '../shared/problem';
import { readRequestId } from '../shared/request-id';
import { deleteInDatabase } from './delete-in-database';
import { deleteUserGroup } from './delete-user-group';
import { variables } from './environment';
import { readDeletionRequest } from './request';
import { createUserActionVerifier } from './user-action';

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

/** `DELETE /auth/user-groups/{userGroupId}`, as the specification's section 4 says. */
export const createHandler =
  (dependencies: Dependencies) =>
  async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
    const response = await respond(event, dependencies);
    return { ...response, headers: { ...response.headers, ...dependencies.responseHeaders } };
  };

async function respond(
  event: APIGatewayProxyEvent,
  { log, now, ...ports }: Dependencies,
): Promise<APIGatewayProxyResult> {
  const requestId = readRequestId(event.requestContext);
  try {
    const request = readDeletionRequest(event, now() / 1000);
    const outcome = request.ok ? await deleteUserGroup(ports, { ...request.value, requestId }) : request;
    if (!outcome.ok) {
      const { detail: _, ...refusal } = outcome.error;
      log.warn('Deletion refused', { logCode: logCodes.deletionRefused, requestId, ...refusal });
      return problemResponse(outcome.error, requestId);
    }
    log.info('Deletion completed', { logCode: logCodes.deletionCompleted, requestId });
    return {
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: '{}',
    };
  } catch (error) {
    log.error('Deletion failed', { logCode: logCodes.deletionFailed, requestId, error: error as Error });
    return problemResponse(
      {
        code: 'internal_error',
        detail: 'Something went wrong on our side. Quote the requestId to support.',
      },
      requestId,
    );
  }
}

export const handler = bind(createHandler, createDependencies);
