import type { Jwks } from 'aws-jwt-verify/jwk';
import { connectDatabase } from '../database/connect';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { deleteInDatabase } from './delete-in-database';
import { variables } from './environment';
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
