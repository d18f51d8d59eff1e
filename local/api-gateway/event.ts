import { LOCAL_ACCOUNT_ID } from '../function-runtime/environment';
import type { GatewayContext } from './context';
import type { AuthorizerModel, RestApiModel } from './model';
import { type GatewayRequest, valuesOf } from './request';
import type { Match } from './routing';

/** One request on its way through the gateway. */
export interface RoutedRequest {
  readonly region: string;
  readonly model: RestApiModel;
  readonly context: GatewayContext;
  readonly request: GatewayRequest;
  readonly match: Match;
}

/** As permissions and policies name the method. https://docs.aws.amazon.com/apigateway/latest/developerguide/arn-format-reference.html */
export const methodArn = (routed: RoutedRequest): string => {
  const { model, request } = routed;
  const path = request.target.path.replace(/^\//, '');
  return `${apiArn(routed)}/${model.stageName}/${request.httpMethod}/${path}`;
};

export const authorizerArn = (routed: RoutedRequest, { id }: AuthorizerModel): string =>
  `${apiArn(routed)}/authorizers/${id}`;

const apiArn = ({ region, model }: RoutedRequest): string =>
  `arn:aws:execute-api:${region}:${LOCAL_ACCOUNT_ID}:${model.apiId}`;

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

/** The event of a Lambda proxy integration. */
export function proxyEvent(routed: RoutedRequest) {
  const body = routed.request.body.toString('utf8') || null;
  return { ...requestEvent(routed), body, isBase64Encoded: false };
}
