import { mappedHeaders, render } from './context';
import type { RoutedRequest } from './event';
import type { MockIntegration } from './model';
import { fault, type Outcome } from './outcome';
import { headerOf } from './request';

/**
 * Answers without a backend: the request template must give a status, the integration response gives the rest.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-mock-integration.html
 */
export function answerMock(routed: RoutedRequest, integration: MockIntegration): Outcome {
  const { context, request } = routed;
  const contentType =
    headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  const { requestTemplates } = integration;
  const template = Object.hasOwn(requestTemplates, contentType) ? requestTemplates[contentType] : undefined;
  if (template === undefined) return fault('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Media Type');

  if (!givesStatus(render(template, context))) return fault('DEFAULT_5XX', 'Internal server error');
  const { response } = integration;
  if (!response || !integration.declaredStatusCodes.includes(String(response.statusCode))) {
    return fault('API_CONFIGURATION_ERROR', 'Internal server error');
  }

  const [type = 'application/json', body = ''] =
    Object.entries(response.templates).find(([each]) => each === 'application/json') ??
    Object.entries(response.templates)[0] ??
    [];
  return {
    kind: 'reply',
    status: Number(response.statusCode),
    headers: mappedHeaders({ 'Content-Type': type }, response.headers, routed),
    body: render(body, context),
  };
}

function givesStatus(json: string): boolean {
  try {
    return Number.isInteger((JSON.parse(json) as { statusCode?: unknown }).statusCode);
  } catch {
    return false;
  }
}
