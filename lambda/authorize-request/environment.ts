/**
 * `TOKEN_ISSUER`: the issuer of this environment's access tokens. `TOKEN_KEYS`: a JWKS document (JSON).
 */
export const variables = ['TOKEN_ISSUER', 'TOKEN_KEYS'] as const;
