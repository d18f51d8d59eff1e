import { routeVariables } from '../shared/variables';

/**
 * `TOKEN_ISSUER`: the issuer of this environment's tokens. `USER_ACTION_KEYS`: a JWKS document (JSON) with the public keys of
 * user action signatures. `Database.grantAccess` adds the database's variables.
 */
export const variables = ['TOKEN_ISSUER', 'USER_ACTION_KEYS', ...routeVariables] as const;
