import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { fail, type Result } from '../../domain/result';
import type { Log } from './log';
import { tokenDetails } from './verify-jwt';

const tokenProblem = (code: keyof typeof tokenDetails) => ({
  status: 401,
  title: 'Access token refused',
  detail: tokenDetails[code],
});

/** Every problem that functions return. The contract is `lib/openapi.yaml`. */
export const problems = {
  token_malformed: tokenProblem('token_malformed'),
  token_expired: tokenProblem('token_expired'),
  token_not_yet_valid: tokenProblem('token_not_yet_valid'),
  invalid_user_group_id: {
    status: 400,
    title: 'Invalid user group id',
    detail: 'A user group id is 1 to 64 characters and matches ^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$.',
  },
  query_not_allowed: {
    status: 400,
    title: 'Query parameters not allowed',
    detail: 'This operation takes no query parameters: the signature of the user action does not cover them.',
  },
  body_not_allowed: {
    status: 400,
    title: 'Request body not allowed',
    detail: 'This operation takes no request body: send none, or an empty JSON object.',
  },
  caller_kind_not_allowed: {
    status: 403,
    title: 'Caller kind not allowed',
    detail: 'An EndUser may not delete user groups.',
  },
  user_action_missing: {
    status: 403,
    title: 'User action signature missing',
    detail: 'Sign the user action and send it in the X-SVC-USERACTION header.',
  },
  user_action_invalid: {
    status: 403,
    title: 'User action signature invalid',
    detail: 'The X-SVC-USERACTION header does not contain a valid user action signature of this environment.',
  },
  user_action_expired: {
    status: 403,
    title: 'User action signature expired',
    detail: 'The user action signature has expired. Sign the action again.',
  },
  user_action_mismatch: {
    status: 403,
    title: 'User action signature mismatch',
    detail: 'The user action signature is for another caller, organization, method, path or body.',
  },
  user_action_replayed: {
    status: 403,
    title: 'User action signature already used',
    detail: 'The user action signature has already been used. Sign the action again.',
  },
  permission_missing: {
    status: 403,
    title: 'Permission missing',
    detail: 'The caller does not hold Auth:UserGroups:Delete, or is deactivated.',
  },
  user_group_not_found: {
    status: 404,
    title: 'User group not found',
    detail: "There is no such user group in the caller's organization.",
  },
  database_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    detail:
      'The database is unreachable or did not respond in time. The deletion may have been carried out. Repeat it with a new user action signature.',
  },
  signature_invalid: {
    status: 401,
    title: 'Signature invalid',
    detail: 'No signature of the request is that of this webhook, its id, its time and its body.',
  },
  source_not_published: {
    status: 403,
    title: 'Source address not published',
    detail: 'The request does not come from an address that GET /webhook-origins lists.',
  },
  delivery_too_old: {
    status: 422,
    title: 'Delivery too old',
    detail: 'The signed time is more than five minutes off, or a probe is more than two minutes old.',
  },
  secret_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    detail: "The webhook's secret is not available at the moment.",
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on our side. Quote the requestId to support.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

/** Why a request is refused. */
export interface Refusal {
  readonly code: ProblemCode;
  /** For the log. */
  readonly cause?: string;
}

export const refuse = (code: ProblemCode, cause?: string) => fail<Refusal>({ code, ...(cause && { cause }) });

export interface Route {
  readonly log: Log;
  /** What its log lines begin with, such as `Deletion`, and their codes. */
  readonly title: string;
  readonly logCodes: { readonly completed: string; readonly refused: string; readonly failed: string };
  /** Of every response. */
  readonly responseHeaders: Readonly<Record<string, string>>;
}

/**
 * Responds to a request: with what `work` returns, as JSON, or with a problem document; 204 to null.
 *
 * @throws Error if the request id is missing, which is a bug: the gateway always sets it.
 */
export async function respond(
  event: APIGatewayProxyEvent,
  { log, title, logCodes, responseHeaders }: Route,
  work: (requestId: string) => Promise<Result<object | null, Refusal>>,
): Promise<APIGatewayProxyResult> {
  const requestId = readRequestId(event);
  const response = await attempt();
  return { ...response, headers: { ...response.headers, ...responseHeaders } };

  async function attempt(): Promise<APIGatewayProxyResult> {
    try {
      const outcome = await work(requestId);
      if (!outcome.ok) {
        log.warn(`${title} refused`, { logCode: logCodes.refused, requestId, ...outcome.error });
        return problemResponse(outcome.error.code, requestId);
      }
      log.info(`${title} completed`, { logCode: logCodes.completed, requestId });
      if (outcome.value === null)
        return { statusCode: 204, headers: { 'Cache-Control': 'no-store' }, body: '' };
      const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
      return { statusCode: 200, headers, body: JSON.stringify(outcome.value) };
    } catch (error) {
      log.error(`${title} failed`, { logCode: logCodes.failed, requestId, error: error as Error });
      return problemResponse('internal_error', requestId);
    }
  }
}

/**
 * The gateway's `extendedRequestId`. Callers can choose `requestId`, so nothing may depend on it: by repeating one, a
 * caller could disguise a replay as a retry.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html ($context.requestId)
 */
function readRequestId({ requestContext }: APIGatewayProxyEvent): string {
  const { extendedRequestId } = requestContext as { readonly extendedRequestId?: string };
  if (!extendedRequestId) throw new Error('The request has no extended request id');
  return extendedRequestId;
}

/** Every value of a header. @param name in lower case */
export function readHeader(event: APIGatewayProxyEvent, name: string): readonly string[] {
  return Object.entries(event.multiValueHeaders ?? {})
    .filter(([candidate]) => candidate.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
}

/** A problem document (RFC 9457). */
function problemResponse(code: ProblemCode, requestId: string): APIGatewayProxyResult {
  const problem = problems[code];
  const { status } = problem;
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(code in tokenDetails && { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
      ...(status === 503 && { 'Retry-After': '5' }),
    },
    body: JSON.stringify({ type: `urn:wallet-infrastructure:problem:${code}`, ...problem, code, requestId }),
  };
}
