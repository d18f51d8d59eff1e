import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LOCAL_ACCOUNT_ID } from '../names';
import type { Api, Method, Route } from './model';

/** An error of the gateway itself, which the gateway response of its type renders. */
export class Fault extends Error {
  /** @param status wins over the type's own, not over that of a configured gateway response */
  constructor(
    readonly type: FaultType,
    message: string,
    readonly status: number = faultTypes[type].status,
  ) {
    super(message);
  }
}

export type FaultType = keyof typeof faultTypes;

/**
 * Status and `x-amzn-ErrorType` of each type.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
export const faultTypes = {
  ACCESS_DENIED: { status: 403, errorType: 'AccessDeniedException' },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, errorType: 'AuthorizerConfigurationException' },
  AUTHORIZER_FAILURE: { status: 500, errorType: 'AuthorizerFailureException' },
  BAD_REQUEST_PARAMETERS: { status: 400, errorType: 'BadRequestException' },
  DEFAULT_4XX: { status: 400, errorType: 'BadRequestException' },
  DEFAULT_5XX: { status: 500, errorType: 'InternalServerErrorException' },
  INTEGRATION_TIMEOUT: { status: 504, errorType: 'InternalServerErrorException' },
  MISSING_AUTHENTICATION_TOKEN: { status: 403, errorType: 'MissingAuthenticationTokenException' },
  REQUEST_TOO_LARGE: { status: 413, errorType: 'RequestTooLargeException' },
  THROTTLED: { status: 429, errorType: 'TooManyRequestsException' },
  UNAUTHORIZED: { status: 401, errorType: 'UnauthorizedException' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, errorType: 'UnsupportedMediaTypeException' },
} as const;

/** Bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const payloadLimit = 10 * 1_024 * 1_024;

/**
 * The `$context` variables of one request; also the `requestContext` of events. Each step adds its own.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export interface Context extends Record<string, unknown> {
  readonly requestId: string;
  /** Never from the client; also in the header `x-amz-apigw-id`. */
  readonly extendedRequestId: string;
  authorizer?: Readonly<Record<string, unknown>>;
}

export function newContext(api: Api, incoming: IncomingMessage, now: number): Context {
  const { headers, method, url = '', httpVersion, socket } = incoming;
  return {
    accountId: LOCAL_ACCOUNT_ID,
    apiId: api.id,
    stage: api.stage,
    requestId: randomUUID(),
    extendedRequestId: `${randomBytes(11).toString('base64url')}=`,
    requestTimeEpoch: now,
    httpMethod: method,
    path: pathOf(url),
    protocol: `HTTP/${httpVersion}`,
    domainName: headers.host,
    identity: { sourceIp: socket.remoteAddress, userAgent: headers['user-agent'] ?? null },
  };
}

/** Raw, still percent-encoded; several slashes at its beginning count as one. */
const pathOf = (url: string): string => (url.split('?')[0] ?? '').replace(/^\/+/, '/');

/** One request on its way through the gateway. */
export interface GatewayRequest {
  readonly region: string;
  readonly api: Api;
  readonly context: Context;
  readonly path: string;
  readonly httpMethod: string;
  readonly route: Route;
  readonly method: Method;
  /** Names as the client wrote them, in order. */
  readonly headers: Pairs;
  readonly query: Pairs;
  readonly pathParameters: Readonly<Record<string, string>> | null;
  readonly body: string;
}

type Pairs = readonly (readonly [name: string, value: string])[];

/**
 * Reads a request to its end and finds its method.
 *
 * @throws Fault when it is malformed, too large, or has no route
 */
export async function readRequest(
  incoming: IncomingMessage,
  api: Api,
  context: Context,
  region: string,
): Promise<GatewayRequest> {
  const { method: httpMethod = '', url = '', rawHeaders } = incoming;
  const body = await readBody(incoming);
  if (body === undefined) {
    throw new Fault('REQUEST_TOO_LARGE', `HTTP content length exceeded ${payloadLimit} bytes.`);
  }
  if (/%(?![0-9a-f]{2})/i.test(url)) throw new Fault('BAD_REQUEST_PARAMETERS', 'Bad Request');
  const path = pathOf(url);
  const found = findRoute(api, path);
  const method = found?.route.methods.get(httpMethod);
  if (!found || !method) {
    // Without AWS credentials, or with a header that is no AWS signature, which has no gateway response type.
    throw incoming.headers.authorization === undefined
      ? new Fault('MISSING_AUTHENTICATION_TOKEN', 'Missing Authentication Token')
      : new Fault('DEFAULT_4XX', 'Invalid key=value pair (missing equal-sign) in Authorization header', 403);
  }
  Object.assign(context, { resourceId: found.route.resourceId, resourcePath: found.route.path });
  return {
    ...{ region, api, context, path, httpMethod, method, body, ...found },
    headers: Array.from(
      { length: rawHeaders.length / 2 },
      (_, index) => [String(rawHeaders[2 * index]), String(rawHeaders[2 * index + 1])] as const,
    ),
    query: url
      .split('?')
      .slice(1)
      .join('?')
      // "The semicolon character (;) is not supported for any request URL query string and results in the data being
      // split": https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
      .split(/[&;]/)
      .filter(Boolean)
      .map((pair) => {
        const [name = '', ...value] = pair.replaceAll('+', ' ').split('=');
        return [decode(name), decode(value.join('='))] as const;
      }),
  };
}

/** Reads the body to its end also when it is too large: a client that is busy sending would not see the response. */
async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= payloadLimit) chunks.push(chunk);
  }
  return length <= payloadLimit ? Buffer.concat(chunks).toString('utf8') : undefined;
}

/**
 * Segments are split before they are decoded, so an encoded slash stays inside its segment; a trailing slash is ignored;
 * the most specific resource wins before the method is looked at.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-method-settings-method-request.html
 */
export function findRoute(
  { routes }: Api,
  path: string,
): Pick<GatewayRequest, 'route' | 'pathParameters'> | undefined {
  const segments = split(path);
  const isParameter = (part: string) => part.startsWith('{');
  const fits = (part: string, index: number) =>
    isParameter(part) ? segments[index] !== '' : part === segments[index];
  // Literals come before parameters, from the first segment on.
  const rank = (route: Route) =>
    split(route.path)
      .map((part) => Number(isParameter(part)))
      .join('');
  const [route] = routes
    .filter((each) => split(each.path).length === segments.length && split(each.path).every(fits))
    .sort((a, b) => rank(a).localeCompare(rank(b)));
  if (!route) return undefined;
  const parameters = split(route.path).flatMap((part, index) =>
    isParameter(part) ? [[part.slice(1, -1), decode(segments[index] ?? '')] as const] : [],
  );
  return { route, pathParameters: parameters.length > 0 ? Object.fromEntries(parameters) : null };
}

function split(path: string): string[] {
  const segments = path.replace(/^\//, '').split('/');
  while (segments.at(-1) === '') segments.pop();
  return segments;
}

/** Decodes to UTF-8; bytes that are none become U+FFFD. @param text one character a byte, as Node.js gives it */
function decode(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

export const apiArn = ({ region, api }: GatewayRequest): string =>
  `arn:aws:execute-api:${region}:${LOCAL_ACCOUNT_ID}:${api.id}`;

/** As permissions and policies name the method. https://docs.aws.amazon.com/apigateway/latest/developerguide/arn-format-reference.html */
export const methodArn = (request: GatewayRequest): string =>
  `${apiArn(request)}/${request.api.stage}/${request.httpMethod}/${request.path.replace(/^\//, '')}`;

/**
 * The event of a Lambda proxy integration; that of an authorizer has no body.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function eventOf({ route, path, httpMethod, headers, query, ...request }: GatewayRequest) {
  return {
    resource: route.path,
    path,
    httpMethod,
    headers: lastOf(headers),
    multiValueHeaders: allOf(headers),
    queryStringParameters: lastOf(query),
    multiValueQueryStringParameters: allOf(query),
    pathParameters: request.pathParameters,
    stageVariables: null,
    requestContext: request.context,
  };
}

const lastOf = (pairs: Pairs) => (pairs.length > 0 ? Object.fromEntries(pairs) : null);

function allOf(pairs: Pairs): Readonly<Record<string, readonly string[]>> | null {
  if (pairs.length === 0) return null;
  const all = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = all.get(name);
    if (values) values.push(value);
    else all.set(name, [value]);
  }
  return Object.fromEntries(all);
}
