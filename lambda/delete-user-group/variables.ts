import { routeVariables } from '../shared/variables';

/** `USER_ACTION_KEYS`: a JWKS document (JSON) with the public keys of user action signatures. */
export const variables = ['TOKEN_ISSUER', 'USER_ACTION_KEYS', ...routeVariables] as const;
