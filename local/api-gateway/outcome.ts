/** The response to the client. */
export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  /** In order; a name may repeat. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** An error of the gateway itself, which the gateway response of its type renders. */
export interface Fault {
  readonly kind: 'fault';
  readonly type: FaultType;
  /** `$context.error.message` */
  readonly message: string | null;
  /** Wins over the type's own status, not over that of a configured gateway response. */
  readonly status?: number;
}

export type Outcome = Reply | Fault;
export type FaultType = keyof typeof faultTypes;

/**
 * Status and `x-amzn-ErrorType` of each type.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const faultTypes = {
  ACCESS_DENIED: { status: 403, errorType: 'AccessDeniedException' },
  API_CONFIGURATION_ERROR: { status: 500, errorType: 'InternalServerErrorException' },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, errorType: 'AuthorizerConfigurationException' },
  AUTHORIZER_FAILURE: { status: 500, errorType: 'AuthorizerFailureException' },
  BAD_REQUEST_PARAMETERS: { status: 400, errorType: 'BadRequestException' },
  DEFAULT_4XX: { status: 400, errorType: 'BadRequestException' },
  DEFAULT_5XX: { status: 500, errorType: 'InternalServerErrorException' },
  INTEGRATION_FAILURE: { status: 504, errorType: 'InternalServerErrorException' },
  INTEGRATION_TIMEOUT: { status: 504, errorType: 'InternalServerErrorException' },
  MISSING_AUTHENTICATION_TOKEN: { status: 403, errorType: 'MissingAuthenticationTokenException' },
  // Ours: AWS documents no type for a client that is too slow.
  REQUEST_TIMEOUT: { status: 408, errorType: 'RequestTimeoutException' },
  REQUEST_TOO_LARGE: { status: 413, errorType: 'RequestTooLargeException' },
  THROTTLED: { status: 429, errorType: 'TooManyRequestsException' },
  UNAUTHORIZED: { status: 401, errorType: 'UnauthorizedException' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, errorType: 'UnsupportedMediaTypeException' },
} as const;

export function fault(type: FaultType, message: string | null, status?: number): Fault {
  return { kind: 'fault', type, message, ...(status !== undefined && { status }) };
}
