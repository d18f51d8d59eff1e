import type { APIGatewayProxyResult } from 'aws-lambda';

/** Every problem that a function answers with: its status and title. The contract is `lib/openapi.yaml`. */
export const problems = {
  token_malformed: { status: 401, title: 'Access token refused' },
  token_expired: { status: 401, title: 'Access token refused' },
  token_not_yet_valid: { status: 401, title: 'Access token refused' },
  invalid_user_group_id: { status: 400, title: 'Invalid user group id' },
  query_not_allowed: { status: 400, title: 'Query parameters not allowed' },
  body_not_allowed: { status: 400, title: 'Request body not allowed' },
  caller_kind_not_allowed: { status: 403, title: 'Caller kind not allowed' },
  user_action_missing: { status: 403, title: 'User action signature missing' },
  user_action_invalid: { status: 403, title: 'User action signature invalid' },
  user_action_expired: { status: 403, title: 'User action signature expired' },
  user_action_mismatch: { status: 403, title: 'User action signature for something else' },
  user_action_replayed: { status: 403, title: 'User action signature used before' },
  permission_missing: { status: 403, title: 'Permission missing' },
  user_group_not_found: { status: 404, title: 'User group not found' },
  database_unavailable: { status: 503, title: 'Temporarily unavailable' },
  internal_error: { status: 500, title: 'Internal error' },
} as const;

export type ProblemCode = keyof typeof problems;

export interface Problem<Code extends ProblemCode = ProblemCode> {
  readonly code: Code;
  /** For the caller: what was wrong and the remedy, without anything that the caller may not know. */
  readonly detail: string;
}

/** Seconds after which a caller may try again when the database is away. */
const retryAfterSeconds = 5;

/** Answers with a problem document (RFC 9457). */
export function problemResponse({ code, detail }: Problem, requestId: string): APIGatewayProxyResult {
  const { status, title } = problems[code];
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer error="invalid_token"' }),
      ...(status === 503 && { 'Retry-After': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({
      type: `urn:wallet-infrastructure:problem:${code}`,
      title,
      status,
      detail,
      code,
      requestId,
    }),
  };
}
