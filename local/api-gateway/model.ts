/** A REST API's resources, in the form that serving it needs. */
export interface RestApiModel {
  readonly apiId: string;
  readonly stageName: string;
  readonly stageVariables: Readonly<Record<string, string>> | null;
  /** Resources that have at least one method. */
  readonly routes: readonly Route[];
  /** By response type, such as `ACCESS_DENIED`. */
  readonly gatewayResponses: Readonly<Record<string, ResponseModel>>;
}

export interface Route {
  readonly resourceId: string;
  /** As in the template: `/auth/user-groups/{userGroupId}`. */
  readonly resourcePath: string;
  /** By HTTP method. */
  readonly methods: Readonly<Record<string, MethodModel>>;
}

export interface MethodModel {
  readonly authorizer?: AuthorizerModel;
  readonly integration: LambdaIntegration | MockIntegration;
  readonly throttle?: Throttle;
}

export interface AuthorizerModel {
  readonly id: string;
  readonly functionArn: string;
  /** Such as `method.request.header.Authorization`. */
  readonly identitySources: readonly string[];
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
  readonly response: ResponseModel | undefined;
  /** Status codes that the method declares: the gateway gives no other. */
  readonly declaredStatusCodes: readonly string[];
}

export interface ResponseModel {
  readonly statusCode: string | undefined;
  /** Header name to its mapping expression. */
  readonly headers: Readonly<Record<string, string>>;
  /** By content type. */
  readonly templates: Readonly<Record<string, string>>;
}

/** The token bucket of one method. */
export interface Throttle {
  /** Requests per second. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}
