import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { unescape as decode } from 'node:querystring';
import { LOCAL_ACCOUNT_ID } from '../../assembly/manifest';
import { readBody } from '../../shared/loopback-server';
import type { Api, Method } from './api';

/** An error of the gateway itself, rendered by the gateway response of its type. */
export class Fault extends Error {
  /**
   * @param type https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
   * @param status overridden by a configured gateway response
   */
  constructor(
    readonly type: string,
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const payloadLimit = 10 * 1_024 * 1_024;

/**
 * The `$context` variables of one request that templates may use; also the `requestContext` of events.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export interface Context {
  readonly requestId: string;
  /** Never read from the client; also in the header `x-amz-apigw-id`. */
  readonly extendedRequestId: string;
  /** The client's address. */
  readonly identity: { readonly sourceIp: string };
  authorizer?: Readonly<Record<string, string>>;
}

export const newContext = (
  { socket }: Pick<IncomingMessage, 'socket'>,
  sourceIp = socket.remoteAddress ?? '',
): Context => ({
  requestId: randomUUID(),
  extendedRequestId: `${randomBytes(11).toString('base64url')}=`,
  identity: { sourceIp },
});

/** A request for a method of the API. */
export type GatewayRequest = Awaited<ReturnType<typeof readRequest>>;

/**
 * Reads a whole request and finds its method.
 *
 * @throws Fault if it is malformed, too large, or has no route
 */
export async function readRequest(incoming: IncomingMessage, api: Api, context: Context, region: string) {
  const { method: httpMethod = '', url = '', rawHeaders } = incoming;
  const body = (await readBody(incoming, payloadLimit))?.toString('utf8');
  if (body === undefined) {
    throw new Fault('REQUEST_TOO_LARGE', 413, `HTTP content length exceeded ${payloadLimit} bytes.`);
  }
  if (/%(?![0-9a-f]{2})/i.test(url)) throw new Fault('BAD_REQUEST_PARAMETERS', 400, 'Bad Request');
  // Percent-encoded; leading slashes are merged into one.
  const path = (url.split('?')[0] ?? '').replace(/^\/+/, '/');
  const { candidates, pathParameters } = findResource(api, path);
  const method = candidates.find((each) => each.httpMethod === httpMethod);
  if (!method) {
    // No credentials, or a header that is not an AWS signature (which has no gateway response type).
    throw incoming.headers.authorization === undefined
      ? new Fault('MISSING_AUTHENTICATION_TOKEN', 403, 'Missing Authentication Token')
      : new Fault('DEFAULT_4XX', 403, 'Invalid key=value pair (missing equal-sign) in Authorization header');
  }
  /** Names as the client wrote them, in order. */
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
  // "The semicolon character (;) is not supported for any request URL query string and results in the data being split":
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
  const query = [...new URLSearchParams(url.replace(/^[^?]*/, '').replaceAll(';', '&'))];
  const apiArn = `arn:aws:execute-api:${region}:${LOCAL_ACCOUNT_ID}:${api.id}`;
  return {
    context,
    method,
    body,
    headers,
    /** The API's ARN in permissions and policies. */
    apiArn,
    /**
     * What permissions to invoke the method's function name: the resource, without the slash at the end that a request's path may
     * have. Such a request reaches the function: https://github.com/aws-powertools/powertools-lambda-python/issues/1552
     */
    resourceArn: `${apiArn}/${api.stage}/${httpMethod}${method.path}`,
    /** As requested: https://github.com/dherault/serverless-offline/issues/273 */
    methodArn: `${apiArn}/${api.stage}/${httpMethod}/${path.replace(/^\//, '')}`,
    /**
     * An authorizer's event; a Lambda proxy integration's event also has the body.
     * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
     */
    event: {
      resource: method.path,
      path,
      httpMethod,
      pathParameters,
      headers: orNull(headers),
      multiValueHeaders: orNull(groupByName(headers)),
      queryStringParameters: orNull(query),
      multiValueQueryStringParameters: orNull(groupByName(query)),
      stageVariables: null,
      requestContext: context,
    },
  };
}

/**
 * The methods of the most specific resource for a path: literals win over parameters, from the first segment on.
 * Segments are split before they are decoded, so an encoded slash stays inside its segment; a trailing slash is ignored.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-method-settings-method-request.html
 */
function findResource<M extends Pick<Method, 'path'>>({ methods }: { methods: readonly M[] }, path: string) {
  const segments = split(path);
  const matches = (parts: readonly string[]) =>
    parts.length === segments.length &&
    parts.every((part, at) => (isParameter(part) ? segments[at] !== '' : part === segments[at]));
  const rank = ({ path }: M) =>
    split(path)
      .map((part) => Number(isParameter(part)))
      .join('');
  const found = methods
    .filter((each) => matches(split(each.path)))
    .sort((a, b) => rank(a).localeCompare(rank(b)));
  const parameters = split(found[0]?.path ?? '').flatMap((part, at) =>
    isParameter(part) ? [[part.slice(1, -1), decode(segments[at] ?? '')] as const] : [],
  );
  const candidates = found.filter((each) => each.path === found[0]?.path);
  return { candidates, pathParameters: orNull(parameters) };
}

const split = (path: string): string[] => path.replace(/^\/|\/+$/g, '').split('/');
const isParameter = (part: string): boolean => part.startsWith('{');

const orNull = <T>(pairs: readonly (readonly [name: string, value: T])[]) =>
  pairs.length > 0 ? Object.fromEntries(pairs) : null;

function groupByName(pairs: readonly (readonly [name: string, value: string])[]) {
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(name, [...(groups.get(name) ?? []), value]);
  return [...groups];
}
