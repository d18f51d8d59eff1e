import type { Authorize } from './authorizer';
import { describeRequest, type GatewayContext } from './context';
import type { RoutedRequest } from './event';
import { type FindFunction, invokeProxy } from './lambda-proxy';
import { answerMock } from './mock';
import type { MethodModel, RestApiModel } from './model';
import { fault, type Outcome } from './outcome';
import { type GatewayRequest, headerOf } from './request';
import { findMethod } from './routing';

export interface GatewayDependencies {
  readonly model: RestApiModel;
  readonly authorize: Authorize;
  /** Takes a token from the method's bucket; `false` when it is empty. */
  readonly admit: (method: MethodModel) => boolean;
  readonly findFunction: FindFunction;
  readonly region: string;
}

/** Takes a request through route, throttle, authorizer and integration; the first that refuses it gives the response. */
export async function answer(
  { model, authorize, admit, findFunction, region }: GatewayDependencies,
  context: GatewayContext,
  request: GatewayRequest,
): Promise<Outcome> {
  describeRequest(context, request);
  const match = findMethod(model, request.httpMethod, request.target.path);
  if (!match) return noRoute(request);
  const { route, method } = match;
  Object.assign(context, { resourceId: route.resourceId, resourcePath: route.resourcePath });
  if (!admit(method)) return fault('THROTTLED', 'Too Many Requests');

  const routed: RoutedRequest = { region, model, context, request, match };
  const refusal = method.authorizer && (await authorize(routed, method.authorizer));
  if (refusal) return refusal;
  return method.integration.type === 'MOCK'
    ? answerMock(routed, method.integration)
    : invokeProxy(routed, method.integration, findFunction);
}

/**
 * API Gateway treats an unknown path or method as a request without AWS credentials, and an `Authorization` header that
 * is no AWS signature as a broken one, which has no gateway response type.
 */
function noRoute(request: GatewayRequest): Outcome {
  return headerOf(request, 'authorization') === undefined
    ? fault('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token')
    : fault('DEFAULT_4XX', 'Invalid key=value pair (missing equal-sign) in Authorization header', 403);
}
