/**
 * `TOKEN_ISSUER`: the issuer of this environment's tokens. `USER_ACTION_KEYS`: a JWKS document (JSON) with the
 * public keys of user action signatures. The database's variables are added by `Database.grantAccess`.
 */
export const variables = ['TOKEN_ISSUER', 'USER_ACTION_KEYS'] as const;
