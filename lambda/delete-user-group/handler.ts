import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { connectDatabase } from '../database/connect';
import { bindDependencies } from '../shared/bind-dependencies';
import { respond } from '../shared/http';
import { createLog } from '../shared/log';
import { createUserActionVerifier } from '../shared/user-action';
import { readVariables } from '../shared/variables';
import { deleteInDatabase } from './delete-in-database';
import { deleteUserGroup } from './delete-user-group';
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
export const createHandler = ({ log, responseHeaders, ...ports }: Dependencies) => {
  const responding = { operation: 'deleteUserGroup', log, responseHeaders } as const;
  return (event: APIGatewayProxyEvent) =>
    respond(event, responding, (requestId) => deleteUserGroup(event, requestId, ports));
};

export const handler = bindDependencies(createHandler, createDependencies);
