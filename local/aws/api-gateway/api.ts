import type { TemplateObject } from '../../../domain/assembly';
import type { InvocationResult } from '../lambda/instance';
import type { DeployedResource, DeployedResources } from '../resource';

/** A REST API as defined in its template. */
export type Api = ReturnType<typeof readApi>;
export type Method = Api['methods'][number];
export type Authorizer = NonNullable<Method['authorizer']>;
export type ResponseTemplate = ReturnType<typeof readResponse>;

/**
 * @param sourceArn of the invoking resource's method or of the authorizer, as in `AWS::Lambda::Permission`
 * @throws Error if the function does not exist
 */
export type FindFunction = (
  functionArn: string,
  sourceArn: string,
) => { invoke(event: unknown): Promise<InvocationResult> };

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const defaultTimeoutMs = 29_000;

/**
 * Reads a REST API from a stack's resources.
 *
 * @throws Error, with the logical id, for unsupported values; the table of resources rejects unsupported properties
 */
export function readApi(resources: DeployedResources, apiLogicalId: string) {
  const id = String(resources.get(apiLogicalId)?.ref);
  const ofType = (type: string) =>
    [...resources.values()].filter(
      (each) => each.type === `AWS::ApiGateway::${type}` && each.properties.RestApiId === id,
    );
  const segments = new Map(ofType('Resource').map((each) => [each.ref, each]));
  // The template has no root resource: CloudFormation creates it with the API.
  const pathOf = (resourceId: string): string => {
    const segment = segments.get(resourceId);
    if (!segment) return '';
    const { ParentId, PathPart } = segment.properties;
    requireSupported(segment, 'the path part', PathPart, /^(?!.*\+}$)/);
    return `${pathOf(ParentId)}/${PathPart}`;
  };
  const authorizers = new Map(ofType('Authorizer').map((each) => [each.ref, readAuthorizer(each)]));
  const [stage] = ofType('Stage');
  return {
    id,
    stage: String(stage?.properties.StageName),
    methods: ofType('Method').map((each) => {
      const { HttpMethod, ResourceId, AuthorizationType, AuthorizerId, Integration } = each.properties;
      requireSupported(each, 'the method', HttpMethod, /^(?!ANY$)/);
      const authorizer = authorizers.get(AuthorizerId);
      requireSupported(each, 'AuthorizationType', AuthorizationType, authorizer ? /^CUSTOM$/ : /^NONE$/);
      requireSupported(each, 'an integration of type', Integration.Type, /^(AWS_PROXY|MOCK)$/);
      return {
        httpMethod: String(HttpMethod),
        /** Such as `/auth/user-groups/{userGroupId}`. */
        path: pathOf(ResourceId) || '/',
        authorizer,
        integration:
          Integration.Type === 'MOCK'
            ? readResponse(each, Integration.IntegrationResponses[0])
            : {
                functionArn: functionArnIn(Integration.Uri),
                timeoutMs: Number(Integration.TimeoutInMillis ?? defaultTimeoutMs),
              },
      };
    }),
    /** Keyed by response type, such as `ACCESS_DENIED`. */
    gatewayResponses: new Map(
      ofType('GatewayResponse').map(
        (each) => [String(each.properties.ResponseType), readResponse(each, each.properties)] as const,
      ),
    ),
    throttleOf: readThrottles(stage),
  };
}

function readAuthorizer(resource: DeployedResource) {
  const { Type, IdentitySource, AuthorizerUri, AuthorizerResultTtlInSeconds } = resource.properties;
  requireSupported(resource, 'an authorizer of type', Type, /^REQUEST$/);
  requireSupported(resource, 'the identity source', IdentitySource, /^method\.request\.header\.[\w-]+$/);
  return {
    id: resource.ref,
    functionArn: functionArnIn(AuthorizerUri),
    /** The identity source: a header's name, in lowercase. */
    identityHeader: String(IdentitySource).split('.')[3]?.toLowerCase(),
    /** Seconds; 0 disables the cache. */
    resultTtl: Number(AuthorizerResultTtlInSeconds),
  };
}

/** Matches templates that use nothing of the language but the variables of the request's `Context`. */
const supportedTemplate =
  /^(?!.*(\$(?!context\.((extendedR|r)equestId|authorizer\.\w+|error\.messageString)\b)|#\w))/s;

/** A gateway response, or the response of a MOCK method. */
function readResponse(resource: DeployedResource, response: TemplateObject) {
  const { StatusCode, ResponseParameters = {}, ResponseTemplates = {} } = response;
  const body: string | undefined = ResponseTemplates['application/json'];
  requireSupported(resource, 'StatusCode', StatusCode, /^\d{3}$/);
  requireSupported(resource, 'the template', body ?? '', supportedTemplate);
  return {
    status: Number(StatusCode),
    headers: Object.entries(ResponseParameters).map(([name, expression]): [name: string, value: string] => {
      requireSupported(resource, 'the header value', expression, /^'.*'$/s);
      return [name.split('.header.')[1] ?? '', String(expression).slice(1, -1)];
    }),
    body: body ?? '',
  };
}

/**
 * Each method's token bucket: requests per second, and burst. `undefined`: unlimited. A method's own settings replace those
 * of the stage.
 */
function readThrottles(stage: DeployedResource | undefined) {
  const settings: readonly TemplateObject[] = stage?.properties.MethodSettings ?? [];
  const named = new Map(
    // `/~1groups~1{id}`: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-apigateway-stage-methodsetting.html
    settings.map((each) => {
      const path = each.ResourcePath.replace(/^\/~1/, '/').replaceAll('~1', '/');
      return [`${each.HttpMethod} ${path}`, each];
    }),
  );
  return ({ httpMethod, path }: { readonly httpMethod: string; readonly path: string }) => {
    const { ThrottlingRateLimit, ThrottlingBurstLimit } =
      named.get(`${httpMethod} ${path}`) ?? named.get('* /*') ?? {};
    if (ThrottlingRateLimit === undefined) return undefined;
    return { rate: Number(ThrottlingRateLimit), burst: Number(ThrottlingBurstLimit) };
  };
}

/** Extracts the function's ARN from an integration URI. */
const functionArnIn = (uri: string): string => uri.replace(/^.*\/functions\/(arn:[^/]+)\/invocations$/, '$1');

function requireSupported({ logicalId }: DeployedResource, what: string, value: unknown, supported: RegExp) {
  if (supported.test(String(value))) return;
  throw new Error(`${logicalId}: ${what} ${value} is not supported on this machine.`);
}
