import { type GatewayResponse, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Deprecation } from '../environment/schema';

/**
 * Not `$context.requestId`, which clients can override and break out of the JSON string with: template variables are not escaped.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
const REQUEST_ID = '$context.extendedRequestId';

type Problem = readonly [status: number, code: string, title: string, detail: string];

/**
 * The responses that API Gateway returns without a handler, by type; other types get `DEFAULT_4XX` or `DEFAULT_5XX`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const problems: Readonly<Record<string, Problem>> = {
  // The authorizer puts code and detail into the context of each denial, from its own fixed texts.
  ACCESS_DENIED: [401, '$context.authorizer.code', 'Access token refused', '$context.authorizer.detail'],
  BAD_REQUEST_PARAMETERS: [400, 'bad_request', 'Bad request', 'The request is malformed.'],
  // On an unknown path, API Gateway takes a bearer token for an invalid AWS signature, which no operation uses.
  DEFAULT_4XX: [404, 'route_not_found', 'Route not found', 'No operation has this method and path.'],
  DEFAULT_5XX: [
    500,
    'internal_error',
    'Internal error',
    'Something went wrong on our side. Quote the requestId to support.',
  ],
  INTEGRATION_TIMEOUT: [
    504,
    'gateway_timeout',
    'Gateway timeout',
    'No response arrived in time. The request may have been carried out.',
  ],
  REQUEST_TOO_LARGE: [
    413,
    'request_too_large',
    'Request too large',
    'The request exceeds 10 MB, or its headers exceed 10,240 bytes.',
  ],
  THROTTLED: [
    429,
    'too_many_requests',
    'Too many requests',
    'The rate limit of this environment is exceeded. Wait, then repeat the request.',
  ],
  UNAUTHORIZED: [
    401,
    'token_missing',
    'Access token missing',
    'The Authorization header with a bearer token is missing.',
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    415,
    'unsupported_media_type',
    'Media type not supported',
    'The Content-Type of the request is not accepted.',
  ],
  WAF_FILTERED: [
    403,
    'request_blocked',
    'Request blocked',
    'The firewall blocked the request: it resembles an attack, or its source address sends too many requests.',
  ],
};

const headersOfStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  429: { 'Retry-After': '1' },
};

/** Configures each of the gateway's own responses as a problem document (RFC 9457), with `headers` and the problem's. */
export function addGatewayResponses(restApi: RestApi, headers: Readonly<Record<string, string>>): void {
  let previous: GatewayResponse | undefined;
  for (const [type, problem] of Object.entries(problems)) {
    const response = restApi.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(problem[0]),
      responseHeaders: staticValues({
        'Content-Type': 'application/problem+json',
        'Cache-Control': 'no-store',
        ...headersOfStatus[problem[0]],
        ...headers,
      }),
      // Applies to any Accept header, as the key of the gateway's default templates; application/problem+json would not.
      templates: { 'application/json': problemTemplate(problem) },
    });
    // In sequence: API Gateway rejects parallel changes to an API with ConflictException.
    // https://github.com/hashicorp/terraform-provider-aws/issues/16439
    if (previous) response.node.addDependency(previous);
    previous = response;
  }
}

/** Header values for the gateway's mappings: a static value is in single quotes. */
export function staticValues(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));
}

function problemTemplate([status, code, title, detail]: Problem): string {
  const type = `urn:wallet-infrastructure:problem:${code}`;
  return JSON.stringify({ type, title, status, detail, code, requestId: REQUEST_ID });
}

/** Of a deprecated environment: `Deprecation` (RFC 9745) and, once the day is decided, `Sunset` (RFC 8594). Otherwise empty. */
export function deprecationHeaders(deprecation: Deprecation | undefined): Readonly<Record<string, string>> {
  if (!deprecation) return {};
  const { since, sunset } = deprecation;
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset && { Sunset: new Date(sunset).toUTCString() }),
  };
}
