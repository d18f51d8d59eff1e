import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, FindFunction, Method, ResponseTemplate } from './api';
import { createAuthorize } from './authorizer';
import { type Context, Fault, type GatewayRequest } from './request';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Handles requests: throttling, authorizer, integration, in this order; the first refusal throws a Fault.
 *
 * @param clock milliseconds since 1970, for throttling and the authorizers' caches
 */
export function createRespond({ throttleOf }: Api, findFunction: FindFunction, clock: () => number) {
  const takeToken = createThrottle(throttleOf, clock);
  const authorize = createAuthorize(findFunction, clock);
  return async (request: GatewayRequest): Promise<Reply> => {
    const { integration, authorizer } = request.method;
    if (!takeToken(request.method)) throw new Fault('THROTTLED', 429, 'Too Many Requests');
    if (authorizer) await authorize(request, authorizer);
    if ('functionArn' in integration) return invokeFunction(request, integration, findFunction);
    // A MOCK method has a template for JSON only, with PassthroughBehavior NEVER.
    const [, type = 'application/json'] =
      request.headers.findLast(([name]) => /^content-type$/i.test(name)) ?? [];
    if (/^\s*application\/json\s*(;|$)/i.test(type)) return fill(integration, request.context);
    throw new Fault('UNSUPPORTED_MEDIA_TYPE', 415, 'Unsupported Media Type');
  };
}

/**
 * A token bucket for each method.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 *
 * @returns a function that takes a token, or returns false if the bucket is empty
 */
function createThrottle(throttleOf: Api['throttleOf'], clock: () => number): (method: Method) => boolean {
  const buckets = new Map<Method, { readonly tokens: number; readonly time: number }>();
  return (method) => {
    const limits = throttleOf(method);
    if (!limits) return true;
    const { rate, burst } = limits;
    const time = clock();
    const last = buckets.get(method) ?? { tokens: burst, time };
    const tokens = Math.min(burst, last.tokens + ((time - last.time) / 1_000) * rate);
    buckets.set(method, { tokens: tokens >= 1 ? tokens - 1 : tokens, time });
    return tokens >= 1;
  };
}

async function invokeFunction(
  { resourceArn, event, body }: GatewayRequest,
  { functionArn, timeoutMs }: Exclude<Method['integration'], ResponseTemplate>,
  findFunction: FindFunction,
): Promise<Reply> {
  const invoked = findFunction(functionArn, resourceArn);
  const answered = new AbortController();
  const result = await Promise.race([
    invoked.invoke({ ...event, body: body || null, isBase64Encoded: false }),
    sleep(timeoutMs, undefined, { signal: answered.signal }),
  ]);
  answered.abort();
  if (!result) throw new Fault('INTEGRATION_TIMEOUT', 504, 'Endpoint request timed out');
  const reply = result.ok && readResult(result.payload);
  if (reply) return reply;
  // 500 if the gateway lacks permission to invoke the function; 502 for a failure or a malformed result.
  const status = !result.ok && result.errorType === 'AccessDeniedException' ? 500 : 502;
  throw new Fault('DEFAULT_5XX', status, 'Internal server error');
}

/**
 * Every field is optional; an unknown field, such as `multiValueHeaders` here, makes the result malformed, and a body in base64 is refused.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format
 *
 * @returns undefined if it is malformed
 */
function readResult(payload: unknown): Reply | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const result = payload as Readonly<Record<string, unknown>>;
  const { statusCode = 200, headers, body, isBase64Encoded = false, ...others } = result;
  if (isBase64Encoded) {
    throw new Fault('DEFAULT_5XX', 502, 'isBase64Encoded is not supported on this machine');
  }
  const status = Number(statusCode);
  const isStatus = Number.isInteger(status) && status >= 200 && status <= 599;
  if (!isStatus || typeof (body ?? '') !== 'string' || Object.keys(others).length > 0) return undefined;
  try {
    const all = new Headers(headers as Record<string, string>);
    if (!all.has('Content-Type')) all.set('Content-Type', 'application/json');
    return { status, headers: all, body: String(body ?? '') };
  } catch {
    return undefined;
  }
}

/**
 * Renders a fault with the API's gateway response for its type, or else for `DEFAULT_4XX` or `DEFAULT_5XX`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html
 */
export function renderFault({ type, status, message }: Fault, api: Api, context: Context): Reply {
  const template = api.gatewayResponses.get(type) ??
    api.gatewayResponses.get(status >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX') ?? {
      status,
      headers: [],
      body: '{"message":$context.error.messageString}',
    };
  return fill(template, context, JSON.stringify(message));
}

/** Replaces `$context.…` variables with their values, unescaped, like API Gateway; unset ones become empty. */
function fill({ status, headers, body }: ResponseTemplate, context: Context, messageString = ''): Reply {
  const { requestId, extendedRequestId, authorizer = {} } = context;
  const variables = new Map(
    Object.entries({ requestId, extendedRequestId, 'error.messageString': messageString }),
  );
  for (const [name, value] of Object.entries(authorizer)) variables.set(`authorizer.${name}`, value);
  const all = new Headers({ 'Content-Type': 'application/json' });
  for (const [name, value] of headers) all.set(name, value);
  return {
    status,
    headers: all,
    body: body.replace(/\$context\.(\w+(?:\.\w+)*)/g, (_, name: string) => variables.get(name) ?? ''),
  };
}
