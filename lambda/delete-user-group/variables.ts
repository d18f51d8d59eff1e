/**
 * `TOKEN_ISSUER`: the issuer of this environment's tokens. `USER_ACTION_KEYS`: a JWKS document (JSON) with the public keys of
 * user action signatures. `RESPONSE_HEADERS`: a JSON object with the headers of every response, such as `Deprecation`; often
 * `{}`. `Database.grantAccess` adds the database's variables.
 */
export const variables = ['TOKEN_ISSUER', 'USER_ACTION_KEYS', 'RESPONSE_HEADERS'] as const;
