import type { Jwks } from 'aws-jwt-verify/jwk';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { isId } from '../../domain/ids';
import { fail, ok, type Result } from '../../domain/result';
import { bodyHash, type Caller, readCaller, userAction } from '../../domain/tokens';
import { clockToleranceSeconds, createJwtVerifier } from '../shared/verify-jwt';
import type { DeleteUserGroup, UserAction } from './delete-in-database';
import type { ProblemCode } from './problems';

export interface Refusal {
  readonly code: ProblemCode;
  /** For the log. */
  readonly cause?: string;
}

export interface DeletionPorts {
  readonly verifyUserAction: VerifyUserAction;
  readonly deleteUserGroup: DeleteUserGroup;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** `{}` counts as no body. */
const emptyBodies = ['', '{}'];

/**
 * Deletes the group if the request is valid, its user action was signed for it and the caller is permitted. The first check
 * that fails, in the order of the API's contract, determines the response.
 *
 * @throws Error if the authorizer's context is malformed.
 */
export async function deleteUserGroup(
  event: APIGatewayProxyEvent,
  requestId: string,
  ports: DeletionPorts,
): Promise<Result<'deleted', Refusal>> {
  const authorizer = event.requestContext.authorizer ?? {};
  const caller = readCaller(authorizer);
  const [notBefore, expiresAt] = [Number(authorizer.nbf), Number(authorizer.exp)];
  if (!caller || ![notBefore, expiresAt].every(Number.isSafeInteger)) {
    throw new Error('The authorizer returned no caller');
  }
  if (readHeader(event, 'authorization').length > 1) return refuse('token_malformed');
  // The authorizer's decision may come from the gateway's cache.
  const now = ports.now() / 1000;
  if (expiresAt + clockToleranceSeconds < now) return refuse('token_expired');
  if (notBefore - clockToleranceSeconds > now) return refuse('token_not_yet_valid');

  const userGroupId = event.pathParameters?.userGroupId ?? '';
  if (!isId(userGroupId, 'ug')) return refuse('invalid_user_group_id');
  const query = event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {};
  if (Object.keys(query).length > 0) return refuse('query_not_allowed');
  const body = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8').toString('latin1');
  if (!emptyBodies.includes(body)) return refuse('body_not_allowed');
  if (caller.kind === 'EndUser') return refuse('caller_kind_not_allowed');

  const signatures = readHeader(event, 'x-svc-useraction');
  const action = ports.verifyUserAction(signatures, caller, `/auth/user-groups/${userGroupId}`);
  if (!action.ok) return action;

  const outcome = await ports.deleteUserGroup({ caller, userGroupId, userAction: action.value, requestId });
  if (!outcome.ok) return refuse('database_unavailable', outcome.error.reason);
  return outcome.value === 'deleted' ? ok('deleted') : refuse(outcome.value);
}

function readHeader(event: APIGatewayProxyEvent, name: string): readonly string[] {
  return Object.entries(event.multiValueHeaders ?? {})
    .filter(([candidate]) => candidate.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
}

const userActionId = /^[\x21-\x7e]{1,128}$/;
const emptyBodyHashes: readonly unknown[] = emptyBodies.map(bodyHash);

/** Creates the verifier of user action signatures: bound to caller, organization, method, path and body. */
export function createUserActionVerifier(jwks: Jwks, issuer: string) {
  const verify = createJwtVerifier(jwks, {
    issuer,
    audience: userAction.audience,
    types: [userAction.type],
    lifetimeSeconds: userAction.lifetime,
  });

  /** @param path canonical: without stage, query or percent-encoding */
  return (signatures: readonly string[], caller: Caller, path: string): Result<UserAction, Refusal> => {
    const [signature, ...others] = signatures;
    if (!signature) return refuse('user_action_missing');
    if (others.length > 0) return refuse('user_action_invalid', 'several_headers');

    const verified = verify(signature);
    if (!verified.ok) {
      const { code, cause } = verified.error;
      return refuse(code === 'token_expired' ? 'user_action_expired' : 'user_action_invalid', cause);
    }
    const { jti, exp, sub, org, htm, htp, bh } = verified.value;
    if (typeof jti !== 'string' || !userActionId.test(jti))
      return refuse('user_action_invalid', 'id_missing');
    if (sub !== caller.identityId) return refuse('user_action_mismatch', 'other_caller');
    if (org !== caller.organizationId) return refuse('user_action_mismatch', 'other_organization');
    if (htm !== 'DELETE') return refuse('user_action_mismatch', 'other_method');
    if (htp !== path) return refuse('user_action_mismatch', 'other_path');
    if (!emptyBodyHashes.includes(bh)) return refuse('user_action_mismatch', 'other_body');
    return ok({ id: jti, expiresAt: exp });
  };
}

export type VerifyUserAction = ReturnType<typeof createUserActionVerifier>;

const refuse = (code: ProblemCode, cause?: string) => fail<Refusal>({ code, ...(cause && { cause }) });
