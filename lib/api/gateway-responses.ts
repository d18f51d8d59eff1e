import { type GatewayResponse, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type Problem, problemTemplate } from './problem';

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

const INTERNAL_ERROR: Problem = {
  status: 500,
  code: 'internal_error',
  title: 'Internal error',
  detail: 'Something went wrong on our side. Quote the requestId to support.',
};

const ROUTE_NOT_FOUND: Problem = {
  status: 404,
  code: 'route_not_found',
  title: 'Route not found',
  detail: 'No operation has this method and path.',
};

const TOO_MANY_REQUESTS: Problem = {
  status: 429,
  code: 'too_many_requests',
  title: 'Too many requests',
  detail: 'Too many requests arrive at this environment. Slow down and repeat the request.',
  headers: { 'Retry-After': '1' },
};

const BAD_REQUEST: Problem = {
  status: 400,
  code: 'bad_request',
  title: 'Bad request',
  detail: 'The request is malformed.',
};

/**
 * Every response that API Gateway gives without a handler, by its type
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
 *
 * No operation is signed with AWS credentials, so a complaint about an AWS signature means that no route matched: a
 * bearer token on an unknown path is read as a broken AWS signature. Such a complaint has no documented type in one
 * case (`IncompleteSignatureException`), which is why `DEFAULT_4XX` says the same.
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
  API_CONFIGURATION_ERROR: INTERNAL_ERROR,
  AUTHORIZER_CONFIGURATION_ERROR: INTERNAL_ERROR,
  AUTHORIZER_FAILURE: INTERNAL_ERROR,
  BAD_REQUEST_BODY: BAD_REQUEST,
  BAD_REQUEST_PARAMETERS: BAD_REQUEST,
  DEFAULT_4XX: ROUTE_NOT_FOUND,
  DEFAULT_5XX: INTERNAL_ERROR,
  EXPIRED_TOKEN: ROUTE_NOT_FOUND,
  INTEGRATION_FAILURE: INTERNAL_ERROR,
  INTEGRATION_TIMEOUT: {
    status: 504,
    code: 'gateway_timeout',
    title: 'Gateway timeout',
    detail: 'No answer came in time. The request may have been carried out.',
  },
  INVALID_API_KEY: ROUTE_NOT_FOUND,
  INVALID_SIGNATURE: ROUTE_NOT_FOUND,
  MISSING_AUTHENTICATION_TOKEN: ROUTE_NOT_FOUND,
  QUOTA_EXCEEDED: TOO_MANY_REQUESTS,
  REQUEST_TOO_LARGE: {
    status: 413,
    code: 'request_too_large',
    title: 'Request too large',
    detail: 'The request is larger than 10 MB, or its headers than 10,240 bytes.',
  },
  RESOURCE_NOT_FOUND: ROUTE_NOT_FOUND,
  THROTTLED: TOO_MANY_REQUESTS,
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
    detail: 'The request looks like an attack, or comes from an address that sends too many.',
  },
};

/**
 * Gives every response of the gateway itself the shape of a problem (RFC 9457), with `code` and `requestId`.
 *
 * @param headers sent with every one of them, besides those of the problem.
 */
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
      // Whatever the Accept header says: the gateway's own templates have this key only, and so every client gets
      // it. A key of application/problem+json would serve those alone who ask for it. Content-Type is set above.
      templates: { 'application/json': problemTemplate(problem) },
    });
    // One after the other: API Gateway answers parallel changes of an API with ConflictException.
    // https://github.com/hashicorp/terraform-provider-aws/issues/16439
    if (previous) response.node.addDependency(previous);
    previous = response;
  }
}

/** Header values as the gateway's mappings want them: a static value stands in single quotes. */
export function staticValues(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));
}
