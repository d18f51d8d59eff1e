import { type GatewayResponse, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { Deprecation } from '../environment';

/**
 * The gateway's request id. Not `$context.requestId`: "Clients can override this request ID. We
 * recommend using $context.extendedRequestId for a unique request ID that API Gateway generates"
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html). A value
 * from a caller could also break out of the JSON string: API Gateway does not escape template variables.
 */
const REQUEST_ID = '$context.extendedRequestId';

/** A problem document (RFC 9457) that the gateway returns without invoking a handler. */
interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

/**
 * The responses that API Gateway returns without a handler, by type; other types get `DEFAULT_4XX` or `DEFAULT_5XX`
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
 *
 * No operation uses AWS signatures, so an error about an AWS signature means that no route matched: API Gateway parses
 * a bearer token on an unknown path as an invalid AWS signature. Hence the text of `DEFAULT_4XX`.
 */
const problems: Readonly<Record<string, Problem>> = {
  ACCESS_DENIED: {
    status: 401,
    // The authorizer puts both into the context of each denial, from its own fixed texts.
    code: '$context.authorizer.code',
    title: 'Access token refused',
    detail: '$context.authorizer.detail',
    headers: CHALLENGE,
  },
  BAD_REQUEST_PARAMETERS: {
    status: 400,
    code: 'bad_request',
    title: 'Bad request',
    detail: 'The request is malformed.',
  },
  DEFAULT_4XX: {
    status: 404,
    code: 'route_not_found',
    title: 'Route not found',
    detail: 'No operation has this method and path.',
  },
  DEFAULT_5XX: {
    status: 500,
    code: 'internal_error',
    title: 'Internal error',
    detail: 'Something went wrong on our side. Quote the requestId to support.',
  },
  INTEGRATION_TIMEOUT: {
    status: 504,
    code: 'gateway_timeout',
    title: 'Gateway timeout',
    detail: 'No response arrived in time. The request may have been carried out.',
  },
  REQUEST_TOO_LARGE: {
    status: 413,
    code: 'request_too_large',
    title: 'Request too large',
    detail: 'The request exceeds 10 MB, or its headers exceed 10,240 bytes.',
  },
  THROTTLED: {
    status: 429,
    code: 'too_many_requests',
    title: 'Too many requests',
    detail: 'The rate limit of this environment is exceeded. Wait, then repeat the request.',
    headers: { 'Retry-After': '1' },
  },
  UNAUTHORIZED: {
    status: 401,
    code: 'token_missing',
    title: 'Access token missing',
    detail: 'The Authorization header with a bearer token is missing.',
    headers: CHALLENGE,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    code: 'unsupported_media_type',
    title: 'Media type not supported',
    detail: 'The Content-Type of the request is not accepted.',
  },
  WAF_FILTERED: {
    status: 403,
    code: 'request_blocked',
    title: 'Request blocked',
    detail:
      'The firewall blocked the request: it resembles an attack, or its source address sends too many requests.',
  },
};

/** Configures each of the gateway's own responses as a problem document (RFC 9457), with `headers` and the problem's. */
export function addGatewayResponses(restApi: RestApi, headers: Readonly<Record<string, string>>): void {
  let previous: GatewayResponse | undefined;
  for (const [type, problem] of Object.entries(problems)) {
    const response = restApi.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(problem.status),
      responseHeaders: staticValues({
        'Content-Type': 'application/problem+json',
        'Cache-Control': 'no-store',
        ...problem.headers,
        ...headers,
      }),
      // The gateway's default templates have only this key, so it applies to any Accept header; application/problem+json
      // would apply only if requested. Content-Type is set above.
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

function problemTemplate({ status, code, title, detail }: Problem): string {
  const type = `urn:wallet-infrastructure:problem:${code}`;
  return JSON.stringify({ type, title, status, detail, code, requestId: REQUEST_ID });
}

/**
 * Headers of every response in a deprecated environment: `Deprecation` (RFC 9745, a structured date) and,
 * once the day is decided, `Sunset` (RFC 8594, an HTTP date). Otherwise empty.
 */
export function deprecationHeaders(deprecation: Deprecation | undefined): Readonly<Record<string, string>> {
  if (!deprecation) return {};
  const { since, sunset } = deprecation;
  return {
    Deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset && { Sunset: new Date(sunset).toUTCString() }),
  };
}
