import { lookUp } from './context';
import type { RoutedRequest } from './event';
import type { AuthorizerModel } from './model';
import { headerOf } from './request';

/**
 * The values of an authorizer's identity sources. `undefined` when one is missing or empty, or when a token is not of
 * the form it must have: the gateway then answers 401 without asking the authorizer.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/configure-api-gateway-lambda-authorization.html
 */
export function identityOf(
  routed: RoutedRequest,
  authorizer: AuthorizerModel,
): readonly string[] | undefined {
  const values = authorizer.identitySources.map((source) => sourceValue(source, routed));
  if (!values.every((value) => value !== undefined && value !== '')) return undefined;
  const { identityValidation } = authorizer;
  return identityValidation && !identityValidation.test(values[0] ?? '') ? undefined : (values as string[]);
}

function sourceValue(source: string, { request, context, model }: RoutedRequest): string | undefined {
  const [, kind, name = ''] =
    /^(method\.request\.header|method\.request\.querystring|stageVariables|context)\.(.+)$/.exec(source) ??
    [];
  if (kind === 'method.request.header') return headerOf(request, name);
  if (kind === 'method.request.querystring')
    return request.target.query.findLast(([each]) => each === name)?.[1];
  if (kind === 'stageVariables') return model.stageVariables?.[name];
  return kind === 'context' ? lookUp(context, name) : undefined;
}
