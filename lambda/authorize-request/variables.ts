// `TOKEN_LIFETIME`: seconds from `iat` to `exp`, at most. It has a default: new code runs with old variables for some seconds,
// https://docs.aws.amazon.com/lambda/latest/api/API_UpdateFunctionConfiguration.html
export const variables = ['TOKEN_ISSUER', 'TOKEN_KEYS', 'TOKEN_LIFETIME'] as const;

export const defaultLifetimeSeconds = 24 * 60 * 60;

// Seconds for which the gateway caches a decision, whether allow or deny:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
export const decisionSeconds = 60;
