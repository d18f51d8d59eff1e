import type { LocalFunction } from '../lambda/function';
import type { LocalResource, ResourceRequest } from '../resources/deployment';

/** A REST API as its template describes it. */
export interface Api {
  readonly id: string;
  readonly stage: string;
  readonly methods: readonly Method[];
  /** By response type, such as `ACCESS_DENIED`. */
  readonly gatewayResponses: ReadonlyMap<string, ResponseTemplate>;
  /** The token bucket of each method: requests per second, and requests at once. @default - unlimited */
  readonly throttle: { readonly rate: number; readonly burst: number } | undefined;
}

export interface Method {
  readonly httpMethod: string;
  readonly resourceId: string;
  /** Of the resource, such as `/auth/user-groups/{userGroupId}`. */
  readonly path: string;
  readonly integration: LambdaIntegration | ResponseTemplate;
  readonly authorizer: Authorizer | undefined;
}

export interface Authorizer {
  readonly id: string;
  readonly functionArn: string;
  /** The name of the header that identifies the caller, in lowercase. */
  readonly identityHeader: string;
  /** Seconds; 0 turns the cache off. */
  readonly resultTtl: number;
}

export interface LambdaIntegration {
  readonly functionArn: string;
  readonly timeoutMs: number;
}

/** The gateway's response to an error, or that of a method without a backend (MOCK). */
export interface ResponseTemplate {
  /** @default - that of the error */
  readonly status: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Variables are written `$context.NAME`. @default - the error's message as JSON */
  readonly body: string | undefined;
}

/**
 * @param sourceArn of the method or the authorizer that invokes the function, as a permission names it
 * @throws Error when there is no function with the ARN
 */
export type FindFunction = (functionArn: string, sourceArn: string) => Pick<LocalFunction, 'invoke'>;

type Resource = LocalResource & ResourceRequest;
type Fields = Readonly<Record<string, unknown>>;

/** The properties that are used or may be ignored, of each type whose others would change a response. */
const supported: Readonly<Record<string, RegExp>> = {
  RestApi:
    /^(Name|Description|Endpoint\w+|SecurityPolicy|DisableExecuteApiEndpoint|MinimumCompressionSize|Tags)$/,
  Stage: /^(RestApiId|StageName|DeploymentId|MethodSettings|AccessLogSetting|Tags)$/,
  Authorizer: /^(RestApiId|Name|Type|AuthorizerUri|IdentitySource|AuthorizerResultTtlInSeconds)$/,
  Method:
    /^(RestApiId|ResourceId|HttpMethod|Authoriz(ationType|erId)|Integration|MethodResponses|OperationName)$/,
};

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const defaultTimeoutMs = 29_000;

/**
 * Reads a REST API among the resources of a stack.
 *
 * @throws Error, with the logical id, for what is not supported here
 */
export function readApi(resources: ReadonlyMap<string, Resource>, apiLogicalId: string): Api {
  const api = resources.get(apiLogicalId);
  const ofType = (type: string) =>
    [...resources.values()].filter(
      (each) => each.type === `AWS::ApiGateway::${type}` && each.properties.RestApiId === api?.ref,
    );
  const [stage, another] = ofType('Stage');
  if (!api || !stage || another) throw new Error(`${apiLogicalId}: one stage is needed.`);
  for (const each of [api, ...['Stage', 'Authorizer', 'Method'].flatMap(ofType)]) {
    const names = supported[each.type.replace('AWS::ApiGateway::', '')];
    const found = Object.keys(each.properties).find((name) => !names?.test(name));
    if (found !== undefined) throw unsupported(each, found);
  }

  const authorizers = new Map(ofType('Authorizer').map((each) => [each.ref, readAuthorizer(each)]));
  const segments = new Map(ofType('Resource').map((each) => [each.ref, each]));
  // The root has no resource in the template: CloudFormation makes it with the API.
  const pathOf = (id: string): string => {
    const segment = segments.get(id);
    if (!segment) return '';
    const { ParentId, PathPart } = segment.properties;
    if (String(PathPart).endsWith('+}')) throw unsupported(segment, 'a greedy parameter');
    return `${pathOf(String(ParentId))}/${PathPart}`;
  };
  return {
    id: api.ref,
    stage: String(stage.properties.StageName),
    methods: ofType('Method').map((each) => {
      const { HttpMethod, ResourceId, AuthorizationType = 'NONE', AuthorizerId } = each.properties;
      if (HttpMethod === 'ANY') throw unsupported(each, 'the method ANY');
      const authorizer = AuthorizationType === 'CUSTOM' ? authorizers.get(String(AuthorizerId)) : undefined;
      if (AuthorizationType !== 'NONE' && !authorizer) {
        throw unsupported(each, `AuthorizationType ${AuthorizationType} with authorizer ${AuthorizerId}`);
      }
      const resourceId = String(ResourceId);
      const path = pathOf(resourceId) || '/';
      return {
        httpMethod: String(HttpMethod),
        resourceId,
        path,
        integration: readIntegration(each),
        authorizer,
      };
    }),
    gatewayResponses: new Map(
      ofType('GatewayResponse').map((each) => [
        String(each.properties.ResponseType),
        readResponse(each, each.properties),
      ]),
    ),
    throttle: readThrottle(stage),
  };
}

function readAuthorizer(resource: Resource): Authorizer {
  const { Type, IdentitySource, AuthorizerUri, AuthorizerResultTtlInSeconds = 300 } = resource.properties;
  if (Type !== 'REQUEST') throw unsupported(resource, `an authorizer of type ${Type}`);
  const header = /^method\.request\.header\.([\w-]+)$/.exec(String(IdentitySource))?.[1];
  if (!header) throw unsupported(resource, `the identity source ${IdentitySource}`);
  return {
    id: resource.ref,
    functionArn: functionArnOf(resource, AuthorizerUri),
    identityHeader: header.toLowerCase(),
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-apigateway-authorizer.html
    resultTtl: Number(AuthorizerResultTtlInSeconds),
  };
}

function readIntegration(resource: Resource): Method['integration'] {
  const integration = resource.properties.Integration as Fields;
  if (integration.Type === 'AWS_PROXY') {
    const { Uri, TimeoutInMillis = defaultTimeoutMs } = integration;
    return { functionArn: functionArnOf(resource, Uri), timeoutMs: Number(TimeoutInMillis) };
  }
  const [response, another] = (integration.IntegrationResponses as Fields[] | undefined) ?? [];
  if (integration.Type !== 'MOCK' || !response || another || response.SelectionPattern) {
    throw unsupported(resource, `an integration of type ${integration.Type} with these responses`);
  }
  // The gateway takes the status from the request template, and refuses every content type without one.
  const requestTemplate = `{"statusCode": ${response.StatusCode}}`;
  const templates = integration.RequestTemplates as Fields | undefined;
  if (integration.PassthroughBehavior !== 'NEVER' || templates?.['application/json'] !== requestTemplate) {
    throw unsupported(resource, `MOCK other than with PassthroughBehavior NEVER and ${requestTemplate}`);
  }
  return readResponse(resource, response);
}

function readResponse(resource: Resource, response: Fields): ResponseTemplate {
  const { StatusCode, ResponseParameters = {}, ResponseTemplates = {} } = response;
  const body = (ResponseTemplates as Readonly<Record<string, string>>)['application/json'];
  const language = /\$(?!context\.\w)\S*|#\w+/.exec(body ?? '')?.[0];
  if (language) throw unsupported(resource, `${language} in a template`);
  return {
    status: StatusCode === undefined ? undefined : Number(StatusCode),
    headers: Object.entries(ResponseParameters as Fields).map(([name, expression]) => {
      const value = /^'(.*)'$/s.exec(String(expression))?.[1];
      if (value === undefined) throw unsupported(resource, `the header value ${expression}`);
      return [name.replace(/^(method\.response|gatewayresponse)\.header\./, ''), value];
    }),
    body,
  };
}

function readThrottle(stage: Resource): Api['throttle'] {
  const settings = (stage.properties.MethodSettings ?? []) as readonly Fields[];
  if (settings.some(({ ResourcePath, HttpMethod }) => ResourcePath !== '/*' || HttpMethod !== '*')) {
    throw unsupported(stage, 'MethodSettings of a single method');
  }
  const [{ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = {}] = settings;
  return rate === undefined ? undefined : { rate: Number(rate), burst: Number(burst) };
}

/** The function's ARN inside the URI by which API Gateway invokes it. */
function functionArnOf(resource: Resource, uri: unknown): string {
  const arn = /\/functions\/(arn:[^/]+)\/invocations$/.exec(String(uri))?.[1];
  if (!arn) throw unsupported(resource, `the integration ${uri}`);
  return arn;
}

const unsupported = ({ logicalId }: Resource, what: string): Error =>
  new Error(`${logicalId}: ${what} is not supported on this machine.`);
