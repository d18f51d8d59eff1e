import type { GatewayContext } from './context';
import type { RestApiModel } from './model';
import { type GatewayRequest, headerOf, valuesOf } from './request';
import type { Match } from './routing';

/** One request on its way through the gateway. */
export interface RoutedRequest {
  readonly model: RestApiModel;
  readonly context: GatewayContext;
  readonly request: GatewayRequest;
  readonly match: Match;
}

/**
 * The part that the events of Lambda proxy integrations and of REQUEST authorizers have in common.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function requestEvent({ model, context, request, match }: RoutedRequest) {
  const headers = valuesOf(request.headers);
  const query = valuesOf(request.target.query);
  return {
    resource: match.route.resourcePath,
    path: request.target.path,
    httpMethod: request.httpMethod,
    headers: headers.single,
    multiValueHeaders: headers.multi,
    queryStringParameters: query.single,
    multiValueQueryStringParameters: query.multi,
    pathParameters: match.pathParameters,
    stageVariables: model.stageVariables,
    requestContext: context,
  };
}

/** The event of a Lambda proxy integration. A body of a binary media type is base64, any other is UTF-8 text. */
export function proxyEvent(routed: RoutedRequest) {
  const { request, model } = routed;
  const isBase64Encoded = request.body.length > 0 && isBinary(model, headerOf(request, 'content-type'));
  const text = request.body.toString(isBase64Encoded ? 'base64' : 'utf8');
  return { ...requestEvent(routed), body: text || null, isBase64Encoded };
}

export function isBinary(model: RestApiModel, mediaType: string | undefined): boolean {
  const type = mediaType?.split(';')[0]?.trim().toLowerCase();
  return model.binaryMediaTypes.some((each) => each === '*/*' || each.toLowerCase() === type);
}
