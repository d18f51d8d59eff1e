import type { LocalFunction } from '../lambda/function';
import type { LocalResource, ResourceRequest } from '../resources/deployment';

/** A REST API's resources, in the form that serving it needs. */
export interface Api {
  readonly id: string;
  readonly stage: string;
  readonly routes: readonly Route[];
  /** By response type, such as `ACCESS_DENIED`. */
  readonly gatewayResponses: ReadonlyMap<string, ResponseModel>;
}

export interface Route {
  readonly resourceId: string;
  /** As in the template: `/auth/user-groups/{userGroupId}`. */
  readonly path: string;
  /** By HTTP method. */
  readonly methods: ReadonlyMap<string, Method>;
}

export interface Method {
  readonly integration: LambdaIntegration | ResponseModel;
  readonly authorizer?: Authorizer;
  /** A token bucket: requests per second, and requests at once. */
  readonly throttle?: { readonly rate: number; readonly burst: number };
}

export interface Authorizer {
  readonly id: string;
  readonly functionArn: string;
  /** Names of headers. */
  readonly identityHeaders: readonly string[];
  /** Seconds that a result is kept for one identity; 0 means never. */
  readonly resultTtl: number;
}

export interface LambdaIntegration {
  readonly functionArn: string;
  readonly timeoutMs: number;
}

/** A response from a template: the gateway's own to an error, or that of a method without a backend (MOCK). */
export interface ResponseModel {
  /** @default - that of the error */
  readonly status?: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Variables are written `$context.NAME`. @default - the error's message as JSON */
  readonly template?: string;
}

/**
 * @param sourceArn of the method or the authorizer that invokes the function, as a permission names it
 * @throws Error when there is no function with the ARN
 */
export type FindFunction = (functionArn: string, sourceArn: string) => Pick<LocalFunction, 'invoke'>;

type Resource = LocalResource & ResourceRequest;
type Fields = Readonly<Record<string, unknown>>;

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
  refuseProperties(api, ['BinaryMediaTypes', 'Body', 'BodyS3Location']);

  const authorizers = new Map(ofType('Authorizer').map((each) => [each.ref, readAuthorizer(each)]));
  const throttle = readThrottle(stage);
  const segments = new Map(ofType('Resource').map((each) => [each.ref, each]));
  // An id without a resource in the template is that of the root, which CloudFormation makes with the API.
  const pathOf = (id: string): string => {
    const segment = segments.get(id);
    if (!segment) return '';
    const { ParentId, PathPart } = segment.properties;
    if (String(PathPart).endsWith('+}')) throw unsupported(segment, 'a greedy parameter');
    return `${pathOf(String(ParentId))}/${PathPart}`;
  };
  const routes = new Map<string, { resourceId: string; path: string; methods: Map<string, Method> }>();
  for (const each of ofType('Method')) {
    const { HttpMethod, ResourceId, AuthorizationType = 'NONE', AuthorizerId } = each.properties;
    refuseProperties(each, ['ApiKeyRequired', 'RequestValidatorId']);
    if (HttpMethod === 'ANY') throw unsupported(each, 'the method ANY');
    const authorizer = authorizers.get(String(AuthorizerId));
    if (AuthorizationType !== 'NONE' && !(AuthorizationType === 'CUSTOM' && authorizer)) {
      throw unsupported(each, `AuthorizationType ${AuthorizationType} with authorizer ${AuthorizerId}`);
    }
    const [resourceId, method] = [String(ResourceId), String(HttpMethod)];
    const path = pathOf(resourceId) || '/';
    const route = routes.get(resourceId) ?? { resourceId, path, methods: new Map() };
    route.methods.set(method, {
      integration: readIntegration(each),
      ...(AuthorizationType === 'CUSTOM' && authorizer && { authorizer }),
      ...(throttle && { throttle }),
    });
    routes.set(resourceId, route);
  }
  return {
    id: api.ref,
    stage: String(stage.properties.StageName),
    routes: [...routes.values()],
    gatewayResponses: new Map(
      ofType('GatewayResponse').map((each) => [
        String(each.properties.ResponseType),
        readResponse(each, each.properties),
      ]),
    ),
  };
}

function readAuthorizer(resource: Resource): Authorizer {
  const {
    Type,
    IdentitySource = '',
    AuthorizerUri,
    AuthorizerResultTtlInSeconds = 300,
  } = resource.properties;
  if (Type !== 'REQUEST') throw unsupported(resource, `an authorizer of type ${Type}`);
  const sources = String(IdentitySource).split(',').filter(Boolean);
  return {
    id: resource.ref,
    functionArn: functionArnOf(resource, AuthorizerUri),
    identityHeaders: sources.map((source) => {
      const name = /^\s*method\.request\.header\.(\S+)\s*$/.exec(source)?.[1];
      if (!name) throw unsupported(resource, `the identity source ${source}`);
      return name;
    }),
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

function readResponse(resource: Resource, response: Fields): ResponseModel {
  const { StatusCode, ResponseParameters = {}, ResponseTemplates = {} } = response;
  const template = (ResponseTemplates as Fields)['application/json'];
  const language = /\$(?!context\.\w)\S*|#\w+/.exec(String(template ?? ''))?.[0];
  if (language) throw unsupported(resource, `${language} in a template`);
  return {
    ...(StatusCode !== undefined && { status: Number(StatusCode) }),
    headers: Object.entries(ResponseParameters as Fields).map(([name, expression]) => {
      const value = /^'(.*)'$/s.exec(String(expression))?.[1];
      if (value === undefined) throw unsupported(resource, `the header value ${expression}`);
      return [name.replace(/^(method\.response|gatewayresponse)\.header\./, ''), value];
    }),
    ...(template !== undefined && { template: String(template) }),
  };
}

/** The limits of every method of a stage. */
function readThrottle(stage: Resource): Method['throttle'] {
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

function refuseProperties(resource: Resource, names: readonly string[]): void {
  const found = names.find((name) => ![undefined, false].includes(resource.properties[name] as undefined));
  if (found) throw unsupported(resource, found);
}

const unsupported = ({ logicalId }: Resource, what: string): Error =>
  new Error(`${logicalId}: ${what} is not supported on this machine.`);
