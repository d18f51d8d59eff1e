/**
 * `TOKEN_ISSUER`: the issuer of this environment's tokens. `USER_ACTION_KEYS`: a JWKS document (JSON) with the
 * public keys of user action signatures. `RESPONSE_HEADERS`: a JSON object with the headers that every answer has:
 * deprecation, and which pages may read it. The database's variables are added by `Database.grantAccess`.
 */
export const variables = ['TOKEN_ISSUER', 'USER_ACTION_KEYS', 'RESPONSE_HEADERS'] as const;
