import { type GatewayContext, mapValue, render } from './context';
import type { GatewayResponseModel, RestApiModel } from './model';
import { type Fault, faultTypes, type Reply } from './outcome';
import { type GatewayRequest, headerOf } from './request';

const DEFAULT_TEMPLATES = { 'application/json': '{"message":$context.error.messageString}' };

/**
 * Gives a fault the form that the API configures for it: its own gateway response, else that of `DEFAULT_4XX` or
 * `DEFAULT_5XX`, else the gateway's own. Only plain variables are replaced in a template.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html
 */
export function gatewayResponse(
  model: RestApiModel,
  fault: Fault,
  context: GatewayContext,
  request?: GatewayRequest,
): Reply {
  const { status, errorType } = faultTypes[fault.type];
  const ownStatus = fault.status ?? status;
  const configured: GatewayResponseModel = model.gatewayResponses[fault.type] ??
    model.gatewayResponses[ownStatus >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX'] ?? {
      headers: {},
      templates: {},
    };
  context.error = {
    message: fault.message,
    messageString: JSON.stringify(fault.message),
    responseType: fault.type,
  };

  const [contentType, template] = chooseTemplate(configured.templates, request);
  const headers = new Map<string, readonly [string, string]>([
    ['content-type', ['Content-Type', contentType]],
    ['x-amzn-errortype', ['x-amzn-ErrorType', errorType]],
  ]);
  for (const [name, expression] of Object.entries(configured.headers)) {
    const value = mapValue(expression, context, request);
    if (value !== undefined) headers.set(name.toLowerCase(), [name, value]);
  }
  return {
    kind: 'reply',
    status: Number(configured.statusCode ?? ownStatus),
    headers: [...headers.values()],
    body: render(template, context, ''),
  };
}

/** The template for a media type that the client accepts, else the one for JSON, else the first. */
function chooseTemplate(
  configured: Readonly<Record<string, string>>,
  request: GatewayRequest | undefined,
): readonly [contentType: string, template: string] {
  const templates = Object.entries(configured).length > 0 ? configured : DEFAULT_TEMPLATES;
  const entries = Object.entries(templates);
  const accepted = request
    ? (headerOf(request, 'accept') ?? '').split(',').map((each) => each.split(';')[0]?.trim())
    : [];
  const chosen =
    entries.find(([type]) => accepted.includes(type)) ??
    entries.find(([type]) => type === 'application/json') ??
    entries[0];
  return chosen ?? ['application/json', ''];
}
