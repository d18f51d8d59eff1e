import type { Jwks } from 'aws-jwt-verify/jwk';
import { ok, type Result } from '../../domain/result';
import type { UserActionProblemCode } from '../../domain/routes';
import { bodyHash, type Caller, userAction } from '../../domain/tokens';
import { type Refusal, refuse } from './http';
import { createJwtVerifier } from './verify-jwt';

/** Permission for one request, valid once. */
export interface UserAction {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** What a user action is signed for. */
export interface SignedRequest {
  readonly caller: Caller;
  readonly method: string;
  /** Canonical: without stage, query or percent-encoding. */
  readonly path: string;
  /** Bodies that mean the same. */
  readonly bodies: readonly string[];
}

const userActionId = /^[\x21-\x7e]{1,128}$/;

export function createUserActionVerifier(jwks: Jwks, issuer: string) {
  const verify = createJwtVerifier(jwks, {
    issuer,
    audience: userAction.audience,
    types: [userAction.type],
    lifetimeSeconds: userAction.lifetime,
  });

  /** @param signatures every value of the header */
  return (
    signatures: readonly string[],
    request: SignedRequest,
  ): Result<UserAction, Refusal<UserActionProblemCode>> => {
    const { caller, method, path, bodies } = request;
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
    if (htm !== method) return refuse('user_action_mismatch', 'other_method');
    if (htp !== path) return refuse('user_action_mismatch', 'other_path');
    if (!bodies.some((body) => bodyHash(body) === bh)) return refuse('user_action_mismatch', 'other_body');
    return ok({ id: jti, expiresAt: exp });
  };
}

export type VerifyUserAction = ReturnType<typeof createUserActionVerifier>;
