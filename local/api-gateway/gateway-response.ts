import { problemTemplate, requestTimeout } from '../../lib/api/problem';
import { type MappingSources, mappedHeaders, render } from './context';
import type { ResponseModel } from './model';
import { type Fault, faultTypes, type Reply } from './outcome';
import { type GatewayRequest, headerOf } from './request';

const DEFAULT_TEMPLATES = { 'application/json': '{"message":$context.error.messageString}' };

/**
 * Renders a fault by the API's gateway response for its type, else by that for `DEFAULT_4XX` or `DEFAULT_5XX`, else by
 * API Gateway's default. Only plain variables are replaced in a template.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html
 */
export function gatewayResponse(fault: Fault, sources: MappingSources): Reply {
  const { model, context, request } = sources;
  const { status, errorType } = faultTypes[fault.type];
  const ownStatus = fault.status ?? status;
  const configured: Partial<ResponseModel> =
    model.gatewayResponses[fault.type] ??
    model.gatewayResponses[ownStatus >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX'] ??
    {};
  const {
    statusCode,
    headers = {},
    templates,
  } = fault.type === 'REQUEST_TIMEOUT' ? timeoutOf(configured) : configured;
  context.error = {
    message: fault.message,
    messageString: JSON.stringify(fault.message),
    responseType: fault.type,
  };

  const [contentType, template] = chooseTemplate(templates, request);
  const defaults = { 'Content-Type': contentType, 'x-amzn-ErrorType': errorType };
  return {
    kind: 'reply',
    status: Number(statusCode ?? ownStatus),
    headers: mappedHeaders(defaults, headers, sources),
    body: render(template, context),
  };
}

/** The API cannot configure a response to slow clients: theirs has the headers of `DEFAULT_4XX`. */
function timeoutOf({ headers }: Partial<ResponseModel>): Partial<ResponseModel> {
  const templates = { 'application/problem+json': problemTemplate(requestTimeout) };
  return { statusCode: String(requestTimeout.status), templates, ...(headers && { headers }) };
}

/** The template for a media type that the client accepts, else the one for JSON, else the first. */
function chooseTemplate(
  configured: Readonly<Record<string, string>> | undefined,
  request: GatewayRequest | undefined,
): readonly [contentType: string, template: string] {
  const own = Object.entries(configured ?? {});
  const entries = own.length > 0 ? own : Object.entries(DEFAULT_TEMPLATES);
  const accept = (request && headerOf(request, 'accept')) ?? '';
  const accepted = accept.split(',').map((each) => each.split(';')[0]?.trim());
  const chosen =
    entries.find(([type]) => accepted.includes(type)) ??
    entries.find(([type]) => type === 'application/json') ??
    entries[0];
  return chosen ?? ['application/json', ''];
}
