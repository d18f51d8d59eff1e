/**
 * `TOKEN_ISSUER`: the issuer of this environment's access tokens. `TOKEN_KEYS`: a JWKS document (JSON).
 * `TOKEN_LIFETIME`: seconds between an access token's `iat` and `exp`, at most. `defaultLifetimeSeconds` if missing: code
 * and variables change by separate calls, so for some seconds of an update new code runs with old variables.
 * https://docs.aws.amazon.com/lambda/latest/api/API_UpdateFunctionConfiguration.html
 */
export const variables = ['TOKEN_ISSUER', 'TOKEN_KEYS', 'TOKEN_LIFETIME'] as const;

export const defaultLifetimeSeconds = 24 * 60 * 60;

/**
 * Seconds for which the gateway keeps a decision, a denial as well as a permission: "API Gateway caches the policies
 * returned from the Lambda function"
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html).
 */
export const decisionSeconds = 60;
