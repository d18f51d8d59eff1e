import type { APIGatewayProxyResult } from 'aws-lambda';
import { tokenDetails } from '../shared/verify-jwt';

const tokenProblem = (code: keyof typeof tokenDetails) => ({
  status: 401,
  title: 'Access token refused',
  detail: tokenDetails[code],
});

/** Every problem that the function returns. The contract is `lib/openapi.yaml`. */
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
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on our side. Quote the requestId to support.',
  },
} as const;

export type ProblemCode = keyof typeof problems;

/** A problem document (RFC 9457). */
export function problemResponse(code: ProblemCode, requestId: string): APIGatewayProxyResult {
  const problem = problems[code];
  const { status } = problem;
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
      ...(status === 503 && { 'Retry-After': '5' }),
    },
    body: JSON.stringify({ type: `urn:wallet-infrastructure:problem:${code}`, ...problem, code, requestId }),
  };
}
