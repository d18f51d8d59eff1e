import type { Jwks } from 'aws-jwt-verify/jwk';
import { fail, ok, type Result } from '../../domain/result';
import { bodyHash, type Caller, userAction } from '../../domain/tokens';
import type { Problem } from '../shared/problem';
import { createJwtVerifier, type TokenRefused } from '../tokens/verify-jwt';
import type { UserAction } from './delete-in-database';

/** What a signature must have been made for. The path is the canonical one: no stage, no query, nothing encoded. */
export interface UserActionScope {
  readonly caller: Caller;
  readonly method: 'DELETE';
  readonly path: string;
}

export type UserActionProblem = Problem<
  'user_action_missing' | 'user_action_invalid' | 'user_action_expired' | 'user_action_mismatch'
> & {
  /** For the log. */
  readonly cause: string;
};

/** Base64url SHA-256 of the empty body and of `{}`: both count as no body. */
const emptyBodyHashes: readonly unknown[] = ['', '{}'].map(bodyHash);

const userActionId = /^[\x21-\x7e]{1,128}$/;

/** Makes the verifier of user action signatures: bound to caller, organization, method, path and body. */
export function createUserActionVerifier(jwks: Jwks, issuer: string) {
  const verify = createJwtVerifier(jwks, {
    issuer,
    audience: userAction.audience,
    types: [userAction.type],
    lifetimeSeconds: userAction.lifetime,
  });

  return (signatures: readonly string[], scope: UserActionScope): Result<UserAction, UserActionProblem> => {
    const [signature, ...others] = signatures;
    if (!signature) {
      return refuse(
        'user_action_missing',
        'Sign the user action and send it in the X-SVC-USERACTION header.',
        'missing',
      );
    }
    if (others.length > 0) return invalid('several_headers');

    const verified = verify(signature);
    if (!verified.ok)
      return verified.error.kind === 'expired' ? expired(verified.error) : invalid(verified.error.cause);
    const { jti, exp, sub, org, htm, htp, bh } = verified.value;
    if (typeof jti !== 'string' || !userActionId.test(jti)) return invalid('id_missing');
    if (sub !== scope.caller.identityId) return mismatch('caller');
    if (org !== scope.caller.organizationId) return mismatch('organization');
    if (htm !== scope.method) return mismatch('method');
    if (htp !== scope.path) return mismatch('path');
    if (!emptyBodyHashes.includes(bh)) return mismatch('body');
    return ok({ id: jti, expiresAt: exp });
  };
}

export type VerifyUserAction = ReturnType<typeof createUserActionVerifier>;

function refuse(code: UserActionProblem['code'], detail: string, cause: string) {
  return fail({ code, detail, cause });
}

const invalid = (cause: string) =>
  refuse(
    'user_action_invalid',
    'The X-SVC-USERACTION header holds no user action signature of this environment.',
    cause,
  );

const expired = ({ cause }: TokenRefused) =>
  refuse('user_action_expired', 'The user action signature has expired. Sign the action again.', cause);

const mismatch = (what: string) =>
  refuse('user_action_mismatch', `The user action signature was made for another ${what}.`, `other_${what}`);
