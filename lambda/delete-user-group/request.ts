import type { APIGatewayProxyEvent } from 'aws-lambda';
import { isId } from '../../domain/ids';
import { fail, ok, type Result } from '../../domain/result';
import { type Caller, readCaller } from '../../domain/tokens';
import type { Problem } from '../shared/problem';
import { tokenProblems } from '../tokens/token-problems';
import { clockToleranceSeconds } from '../tokens/verify-jwt';

/** What the caller asks for, with nothing of the gateway's shape left. */
export interface DeletionRequest {
  readonly caller: Caller;
  readonly userGroupId: string;
  /** The values of the `X-SVC-USERACTION` headers: one is right, none or several are for the decision to refuse. */
  readonly userActionSignatures: readonly string[];
}

type RequestProblem = Problem<
  | 'token_malformed'
  | 'token_expired'
  | 'token_not_yet_valid'
  | 'invalid_user_group_id'
  | 'query_not_allowed'
  | 'body_not_allowed'
  | 'caller_kind_not_allowed'
>;

/** The gateway reads `{}` as a body; it says nothing, so it counts as none. */
const emptyBodies = new Set(['', '{}']);

/**
 * Reads a deletion from the gateway's event, in the order in which the contract lists its refusals.
 *
 * @param nowSeconds the time, in seconds since the epoch: the authorizer's answer may come from the cache, so the
 *   token's times are checked here.
 * @throws Error when the authorizer's context is not what our authorizer gives.
 */
export function readDeletionRequest(
  event: APIGatewayProxyEvent,
  nowSeconds: number,
): Result<DeletionRequest, RequestProblem> {
  const authorizer = event.requestContext.authorizer ?? {};
  const caller = readCaller(authorizer);
  // A decision of the release before this one has no `nbf`: it was made of a token that had begun.
  const [notBefore, expiresAt] = [Number(authorizer.nbf ?? 0), Number(authorizer.exp)];
  if (!caller || ![notBefore, expiresAt].every(Number.isSafeInteger)) {
    throw new Error('The authorizer gave no caller');
  }
  if (readHeader(event, 'authorization').length > 1) return fail(tokenProblems.malformed);
  if (expiresAt + clockToleranceSeconds < nowSeconds) return fail(tokenProblems.expired);
  if (notBefore - clockToleranceSeconds > nowSeconds) return fail(tokenProblems.not_yet_valid);

  const userGroupId = event.pathParameters?.userGroupId ?? '';
  if (!isId(userGroupId, 'ug')) {
    return fail({
      code: 'invalid_user_group_id',
      detail:
        'A user group id is 1 to 64 characters and matches ^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$.',
    });
  }
  if (Object.keys(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {}).length > 0) {
    return fail({
      code: 'query_not_allowed',
      detail:
        'This operation takes no query parameters: the signature of the user action does not cover them.',
    });
  }
  if (!emptyBodies.has(readBody(event))) {
    return fail({
      code: 'body_not_allowed',
      detail: 'This operation takes no request body: send none, or an empty JSON object.',
    });
  }
  if (caller.kind === 'EndUser') {
    return fail({ code: 'caller_kind_not_allowed', detail: 'An EndUser may not delete user groups.' });
  }
  return ok({ caller, userGroupId, userActionSignatures: readHeader(event, 'x-svc-useraction') });
}

function readBody(event: APIGatewayProxyEvent): string {
  return event.isBase64Encoded
    ? Buffer.from(event.body ?? '', 'base64').toString('latin1')
    : (event.body ?? '');
}

function readHeader(event: APIGatewayProxyEvent, name: string): readonly string[] {
  return Object.entries(event.multiValueHeaders ?? {})
    .filter(([candidate]) => candidate.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
}
