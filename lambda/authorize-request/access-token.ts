import type { Jwks } from 'aws-jwt-verify/jwk';
import { type Caller, readCaller } from '../shared/caller';
import { fail, ok, type Result } from '../shared/result';
import { createJwtVerifier, type TokenRefused } from '../tokens/verify-jwt';

/** A verified access token. `expiresAt` is in seconds since the epoch. */
export interface AccessToken {
  readonly caller: Caller;
  readonly expiresAt: number;
}

/** Makes the verifier of this environment's access tokens: audience `wallet-api`, a caller's claims, `nbf`. */
export function createAccessTokenVerifier(jwks: Jwks, issuer: string) {
  const verify = createJwtVerifier(jwks, {
    issuer,
    audience: 'wallet-api',
    types: [undefined, 'JWT', 'at+jwt'],
  });

  return (token: string): Result<AccessToken, TokenRefused> => {
    const verified = verify(token);
    if (!verified.ok) return verified;
    const caller = readCaller(verified.value);
    if (!caller) return fail({ kind: 'malformed', cause: 'caller_claims_not_allowed' });
    if (typeof verified.value.nbf !== 'number')
      return fail({ kind: 'malformed', cause: 'not_before_missing' });
    return ok({ caller, expiresAt: verified.value.exp as number });
  };
}

export type VerifyAccessToken = ReturnType<typeof createAccessTokenVerifier>;
