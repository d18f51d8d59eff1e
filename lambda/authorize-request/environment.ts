/**
 * `TOKEN_ISSUER`: the issuer of this environment's access tokens. `TOKEN_KEYS`: a JWKS document (JSON).
 * `TOKEN_LIFETIME`: seconds between an access token's `iat` and `exp`, at most.
 */
export const variables = ['TOKEN_ISSUER', 'TOKEN_KEYS', 'TOKEN_LIFETIME'] as const;

/**
 * Seconds for which the gateway keeps a decision, a denial as well as a permission: "API Gateway caches the policies
 * returned from the Lambda function"
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html).
 */
export const decisionSeconds = 60;
