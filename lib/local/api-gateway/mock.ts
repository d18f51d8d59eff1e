import { mappedHeaders, render } from './context';
import type { RoutedRequest } from './event';
import type { MockIntegration } from './model';
import { fault, type Outcome } from './outcome';
import { headerOf } from './request';

/**
 * Answers without a backend: the request template gives the status, the integration response of that status the rest.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-mock-integration.html
 */
export function answerMock(routed: RoutedRequest, integration: MockIntegration): Outcome {
  const { context, request } = routed;
  const contentType =
    headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  const template = integration.requestTemplates[contentType];
  const passes =
    integration.passthrough === 'WHEN_NO_MATCH' ||
    (integration.passthrough === 'WHEN_NO_TEMPLATES' &&
      Object.keys(integration.requestTemplates).length === 0);
  if (template === undefined && !passes) return fault('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Media Type');

  const status = statusIn(template === undefined ? request.body.toString('utf8') : render(template, context));
  if (status === undefined) return fault('DEFAULT_5XX', 'Internal server error');
  const response =
    integration.responses.find(({ selection }) => selection?.test(String(status))) ??
    integration.responses.find(({ selection }) => !selection);
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

function statusIn(json: string): number | undefined {
  try {
    const { statusCode } = JSON.parse(json) as { statusCode?: unknown };
    return Number.isInteger(statusCode) ? (statusCode as number) : undefined;
  } catch {
    return undefined;
  }
}
