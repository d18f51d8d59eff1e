/** What a REST API's resources say, in the form that serving it needs. */
export interface RestApiModel {
  readonly apiId: string;
  readonly stageName: string;
  readonly stageVariables: Readonly<Record<string, string>> | null;
  /** Media types whose bodies pass as base64. */
  readonly binaryMediaTypes: readonly string[];
  /** Resources that have at least one method. */
  readonly routes: readonly Route[];
  /** By response type, such as `ACCESS_DENIED`. */
  readonly gatewayResponses: Readonly<Record<string, GatewayResponseModel>>;
  /** With `$context` variables. */
  readonly accessLogFormat?: string;
}

export interface Route {
  readonly resourceId: string;
  /** As in the template: `/auth/user-groups/{userGroupId}`. */
  readonly resourcePath: string;
  /** By HTTP method, or `ANY`. */
  readonly methods: Readonly<Record<string, MethodModel>>;
}

export interface MethodModel {
  readonly authorizer?: AuthorizerModel;
  readonly integration: LambdaIntegration | MockIntegration;
  readonly throttle?: Throttle;
}

export interface AuthorizerModel {
  readonly id: string;
  readonly type: 'REQUEST' | 'TOKEN';
  readonly functionArn: string;
  /** Such as `method.request.header.Authorization`. */
  readonly identitySources: readonly string[];
  /** What a TOKEN authorizer's token must match. */
  readonly identityValidation?: RegExp;
  /** Seconds that a result is kept for one identity; 0 means never. */
  readonly resultTtl: number;
}

export interface LambdaIntegration {
  readonly type: 'AWS_PROXY';
  readonly functionArn: string;
  readonly timeoutMs: number;
}

export interface MockIntegration {
  readonly type: 'MOCK';
  /** By content type. */
  readonly requestTemplates: Readonly<Record<string, string>>;
  readonly passthrough: 'WHEN_NO_MATCH' | 'WHEN_NO_TEMPLATES' | 'NEVER';
  readonly responses: readonly MockResponse[];
  /** Status codes that the method declares: the gateway gives no other. */
  readonly declaredStatusCodes: readonly string[];
}

export interface MockResponse {
  readonly statusCode: string;
  /** Matches the status code of the request template; the response without one is the default. */
  readonly selection?: RegExp;
  /** Header name to its mapping expression. */
  readonly headers: Readonly<Record<string, string>>;
  /** By content type. */
  readonly templates: Readonly<Record<string, string>>;
}

export interface GatewayResponseModel {
  readonly statusCode?: string;
  /** Header name to its mapping expression. */
  readonly headers: Readonly<Record<string, string>>;
  /** By content type. */
  readonly templates: Readonly<Record<string, string>>;
}

/** Token bucket of one method. */
export interface Throttle {
  /** Requests per second. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}
