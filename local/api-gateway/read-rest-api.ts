import type { AuthorizerModel, MethodModel, RestApiModel, Route, Throttle } from './model';
import { readIntegration, readResponse } from './read-integration';
import { type Entry, type Fields, functionArnOf } from './resource-entry';

/** A CloudFormation resource whose intrinsic functions have been resolved. */
export interface ResolvedResource {
  readonly Type: string;
  readonly Properties?: Fields;
}

/**
 * Builds the model of a REST API among the resources of a stack.
 *
 * @param apiLogicalId which one
 * @param ref the physical id of a resource, as `Ref` resolved it. @default - the logical id
 * @throws Error, with the logical id, when there is no such API, when it has not exactly one stage, or when it uses a
 * feature that is not served here.
 */
export function readRestApi(
  resources: Readonly<Record<string, ResolvedResource>>,
  apiLogicalId: string,
  ref: (logicalId: string) => string = (logicalId) => logicalId,
): RestApiModel {
  const entries = (type: string) =>
    Object.entries(resources)
      .filter(([, { Type }]) => Type === `AWS::ApiGateway::${type}`)
      .map(([logicalId, { Properties = {} }]) => ({ logicalId, id: ref(logicalId), ...Properties }) as Entry);
  const api = entries('RestApi').find(({ logicalId }) => logicalId === apiLogicalId);
  if (!api) throw new Error(`There is no AWS::ApiGateway::RestApi ${apiLogicalId}`);
  const ofType = (type: string) => entries(type).filter(({ RestApiId }) => RestApiId === api.id);
  const [stage, ...others] = ofType('Stage');
  if (!stage || others.length > 0) {
    throw new Error(`One AWS::ApiGateway::Stage is needed, the API has ${ofType('Stage').length}`);
  }
  if (api.BinaryMediaTypes !== undefined) {
    throw new Error(`${apiLogicalId}: binary media types are not served on this machine`);
  }
  return {
    apiId: api.id,
    stageName: String(stage.StageName),
    stageVariables: (stage.Variables as Record<string, string> | undefined) ?? null,
    routes: readRoutes(ofType('Resource'), ofType('Method'), {
      authorizers: new Map(ofType('Authorizer').map((entry) => [entry.id, readAuthorizer(entry)])),
      throttle: readThrottles(stage),
    }),
    gatewayResponses: Object.fromEntries(
      ofType('GatewayResponse').map((entry) => [
        String(entry.ResponseType),
        readResponse(entry.logicalId, entry),
      ]),
    ),
  };
}

interface StageParts {
  readonly authorizers: ReadonlyMap<string, AuthorizerModel>;
  readonly throttle: (resourcePath: string, method: string) => Throttle | undefined;
}

function readRoutes(resources: readonly Entry[], methods: readonly Entry[], parts: StageParts): Route[] {
  const byId = new Map(resources.map((entry) => [entry.id, entry]));
  // An id without a resource in the template is that of the root, which CloudFormation makes with the API.
  const pathOf = (id: unknown): string => {
    const entry = byId.get(String(id));
    if (String(entry?.PathPart).endsWith('+}')) {
      throw new Error(`${entry?.logicalId}: greedy parameters are not served on this machine`);
    }
    return entry ? `${pathOf(entry.ParentId)}/${entry.PathPart}` : '';
  };
  const routes = new Map<string, { resourceId: string; methods: Record<string, MethodModel> }>();
  for (const entry of methods) {
    const resourcePath = pathOf(entry.ResourceId) || '/';
    const route = routes.get(resourcePath) ?? { resourceId: String(entry.ResourceId), methods: {} };
    route.methods[String(entry.HttpMethod)] = readMethod(entry, resourcePath, parts);
    routes.set(resourcePath, route);
  }
  return [...routes].map(([resourcePath, route]) => ({ resourcePath, ...route }));
}

function readMethod(entry: Entry, resourcePath: string, { authorizers, throttle }: StageParts): MethodModel {
  const authorization = entry.AuthorizationType ?? 'NONE';
  if (authorization !== 'NONE' && authorization !== 'CUSTOM') {
    throw new Error(`${entry.logicalId}: AuthorizationType ${authorization} is not served on this machine`);
  }
  if (entry.HttpMethod === 'ANY') {
    throw new Error(`${entry.logicalId}: the method ANY is not served on this machine`);
  }
  if (entry.ApiKeyRequired === true || entry.RequestValidatorId !== undefined) {
    throw new Error(`${entry.logicalId}: API keys and request validators are not served on this machine`);
  }
  const authorizer = authorization === 'CUSTOM' ? authorizers.get(String(entry.AuthorizerId)) : undefined;
  if (authorization === 'CUSTOM' && !authorizer) {
    throw new Error(`${entry.logicalId}: there is no authorizer ${entry.AuthorizerId}`);
  }
  const limits = throttle(resourcePath, String(entry.HttpMethod));
  return {
    integration: readIntegration(entry),
    ...(authorizer && { authorizer }),
    ...(limits && { throttle: limits }),
  };
}

function readAuthorizer(entry: Entry): AuthorizerModel {
  const { logicalId, id, Type: type, IdentitySource, AuthorizerUri } = entry;
  if (type !== 'REQUEST') {
    throw new Error(`${logicalId}: authorizers of type ${type} are not served on this machine`);
  }
  return {
    id,
    functionArn: functionArnOf(logicalId, AuthorizerUri),
    identitySources: String(IdentitySource ?? '')
      .split(',')
      .map((source) => source.trim())
      .filter(Boolean),
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-apigateway-authorizer.html
    resultTtl: Number(entry.AuthorizerResultTtlInSeconds ?? 300),
  };
}

/** `ResourcePath` has its slashes as `~1`, after a slash: `/~1auth~1user-groups`; `/*` stands for all. */
function readThrottles(stage: Entry): StageParts['throttle'] {
  const settings = ((stage.MethodSettings as Fields[] | undefined) ?? []).map((each) => ({
    path: String(each.ResourcePath).replace(/^\//, '').replaceAll('~1', '/'),
    method: String(each.HttpMethod),
    rate: each.ThrottlingRateLimit,
    burst: each.ThrottlingBurstLimit,
  }));
  return (resourcePath, method) => {
    const found = [resourcePath, '*']
      .flatMap((path) => [method, '*'].map((verb) => ({ path, verb })))
      .map(({ path, verb }) => settings.find((each) => each.path === path && each.method === verb))
      .find((each) => each?.rate !== undefined && each.burst !== undefined);
    return found && { rate: Number(found.rate), burst: Number(found.burst) };
  };
}
