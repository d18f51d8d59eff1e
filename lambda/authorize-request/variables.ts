/**
 * `TOKEN_ISSUER`: the issuer of this environment's access tokens. `TOKEN_KEYS`: a JWKS document (JSON).
 * `TOKEN_LIFETIME`: seconds between an access token's `iat` and `exp`, at most. Default: `defaultLifetimeSeconds`, because
 * code and variables change by separate calls: during an update, new code runs with old variables for some seconds.
 * https://docs.aws.amazon.com/lambda/latest/api/API_UpdateFunctionConfiguration.html
 */
export const variables = ['TOKEN_ISSUER', 'TOKEN_KEYS', 'TOKEN_LIFETIME'] as const;

export const defaultLifetimeSeconds = 24 * 60 * 60;

/**
 * Seconds for which the gateway caches a decision, whether allow or deny: "API Gateway caches the policies
 * returned from the Lambda function"
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html).
 */
export const decisionSeconds = 60;
