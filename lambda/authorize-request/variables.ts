/** `TOKEN_KEYS`: a JWKS document (JSON). `TOKEN_LIFETIME`: the most seconds between an access token's `iat` and `exp`. */
export const variables = ['TOKEN_ISSUER', 'TOKEN_KEYS', 'TOKEN_LIFETIME'] as const;

export const defaultLifetimeSeconds = 24 * 60 * 60;

// Seconds for which the gateway caches a decision, whether allow or deny:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
export const decisionSeconds = 60;
