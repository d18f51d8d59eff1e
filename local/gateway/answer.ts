import { validateHeaderName, validateHeaderValue } from 'node:http';
import { createAuthorize } from './authorizer';
import type { Api, FindFunction, LambdaIntegration, Method, ResponseModel } from './model';
import { type Context, eventOf, Fault, faultTypes, type GatewayRequest, methodArn } from './request';

/** The response to the client. Headers in order; a name may repeat. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/**
 * What answers a request: throttle, authorizer and integration, in this order; the first that refuses it throws a Fault.
 *
 * @param clock milliseconds since 1970, for throttles and the authorizers' cache
 */
export function createAnswer(findFunction: FindFunction, clock: () => number) {
  const admit = createThrottles(clock);
  const authorize = createAuthorize(findFunction, clock);
  return async (request: GatewayRequest): Promise<Reply> => {
    const { integration, authorizer } = request.method;
    if (!admit(request.method)) throw new Fault('THROTTLED', 'Too Many Requests');
    if (authorizer) await authorize(request, authorizer);
    return 'functionArn' in integration
      ? invokeFunction(request, integration, findFunction)
      : answerFromTemplate(request, integration);
  };
}

/**
 * Token buckets, one for each method that has limits.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
 *
 * @returns whether the method's bucket had a token
 */
function createThrottles(clock: () => number): (method: Method) => boolean {
  const buckets = new WeakMap<Method, { tokens: number; filledAt: number }>();
  return (method) => {
    if (!method.throttle) return true;
    const { rate, burst } = method.throttle;
    const now = clock();
    const bucket = buckets.get(method) ?? { tokens: burst, filledAt: now };
    const tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * rate);
    buckets.set(method, { tokens: tokens >= 1 ? tokens - 1 : tokens, filledAt: now });
    return tokens >= 1;
  };
}

/** A method without a backend has a template for JSON alone: its PassthroughBehavior is NEVER. */
function answerFromTemplate({ headers, context }: GatewayRequest, response: ResponseModel): Reply {
  const [, sent = 'application/json'] = headers.findLast(([name]) => /^content-type$/i.test(name)) ?? [];
  if (sent.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new Fault('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Media Type');
  }
  return {
    status: response.status ?? 200,
    headers: withHeaders([['Content-Type', 'application/json']], response.headers),
    body: render(response.template ?? '', context),
  };
}

async function invokeFunction(
  request: GatewayRequest,
  { functionArn, timeoutMs }: LambdaIntegration,
  findFunction: FindFunction,
): Promise<Reply> {
  const event = { ...eventOf(request), body: request.body || null, isBase64Encoded: false };
  const signal = AbortSignal.timeout(timeoutMs);
  const result = await findFunction(functionArn, methodArn(request)).invoke(event, { signal });
  if (result.ok) return readResult(result.payload);
  if (signal.aborted) throw new Fault('INTEGRATION_TIMEOUT', 'Endpoint request timed out');
  // One that is throttled, or that the gateway may not invoke, is the gateway's own error; one that failed has given no
  // valid response.
  const isOwn = ['TooManyRequestsException', 'AccessDeniedException'].includes(result.errorType);
  throw new Fault('DEFAULT_5XX', 'Internal server error', isOwn ? 500 : 502);
}

/**
 * Every field is optional, and any further field makes the response malformed: 502.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format
 */
function readResult(payload: unknown): Reply {
  const result = (payload ?? { malformed: true }) as Record<string, unknown>;
  const { statusCode = 200, headers, multiValueHeaders, body, isBase64Encoded: _, ...others } = result;
  const status = Number(statusCode);
  const pairs = [
    ...Object.entries(multiValueHeaders ?? {}).flatMap(([name, values]) =>
      [values].flat().map((value) => [name, value] as const),
    ),
    ...Object.entries(headers ?? {}),
  ];
  const isValid =
    Object.keys(others).length === 0 &&
    typeof (body ?? '') === 'string' &&
    Number.isInteger(status) &&
    status >= 200 &&
    status <= 599 &&
    pairs.every(isHeader);
  if (!isValid) {
    throw new Fault('DEFAULT_5XX', 'Internal server error', 502);
  }
  const own = pairs.map(([name, value]) => [name, String(value)] as const);
  const isTyped = own.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    status,
    headers: isTyped ? own : [['Content-Type', 'application/json'], ...own],
    body: String(body ?? ''),
  };
}

function isHeader([name, value]: readonly [string, unknown]): boolean {
  if (typeof value !== 'string' && typeof value !== 'boolean') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

/**
 * Renders a fault by the API's gateway response for its type, else by that for `DEFAULT_4XX` or `DEFAULT_5XX`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-gatewayResponse-definition.html
 */
export function renderFault(fault: Fault, { gatewayResponses }: Api, context: Context): Reply {
  const { type, status, message } = fault;
  const { errorType } = faultTypes[type];
  const configured =
    gatewayResponses.get(type) ?? gatewayResponses.get(status >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX');
  context.error = { message, messageString: JSON.stringify(message), responseType: type };
  return {
    status: configured?.status ?? status,
    headers: withHeaders(
      [
        ['Content-Type', 'application/json'],
        ['x-amzn-ErrorType', errorType],
      ],
      configured?.headers ?? [],
    ),
    body: render(configured?.template ?? '{"message":$context.error.messageString}', context),
  };
}

/** Replaces `$context.…` variables by their values, without escaping, as the gateway does; an unset one is empty. */
function render(template: string, context: Context): string {
  return template.replace(/\$context\.(\w+(?:\.\w+)*)/g, (_, path: string) => {
    let value: unknown = context;
    for (const name of path.split('.')) {
      const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
      value = isThere ? (value as Record<string, unknown>)[name] : undefined;
    }
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
  });
}

/** `headers` with `others` in place of those of the same names. */
function withHeaders(headers: Reply['headers'], others: Reply['headers']): Reply['headers'] {
  const pairs = [...headers, ...others].map((header) => [header[0].toLowerCase(), header] as const);
  return [...new Map(pairs).values()];
}
