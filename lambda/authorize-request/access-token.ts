import type { Jwks } from 'aws-jwt-verify/jwk';
import { fail, ok, type Result } from '../../domain/result';
import { accessToken, type Caller, readCaller } from '../../domain/tokens';
import { createJwtVerifier, type TokenRefused } from '../tokens/verify-jwt';
import { decisionSeconds } from './environment';

/** A verified access token. Times are in seconds since the epoch. */
export interface AccessToken {
  readonly caller: Caller;
  /** May be up to `decisionSeconds` ahead: what carries out the request checks both times. */
  readonly notBefore: number;
  readonly expiresAt: number;
}

/**
 * Makes the verifier of this environment's access tokens: audience `wallet-api`, a caller's claims, `nbf`.
 *
 * The gateway keeps a denial as long as any decision, so a token is refused for its beginning only if it will not begin
 * meanwhile.
 *
 * @param lifetimeSeconds between `iat` and `exp`, at most
 */
export function createAccessTokenVerifier(jwks: Jwks, issuer: string, lifetimeSeconds: number) {
  const verify = createJwtVerifier(jwks, {
    issuer,
    audience: accessToken.audience,
    types: [undefined, accessToken.type, 'at+jwt'],
    lifetimeSeconds,
    earlySeconds: decisionSeconds,
  });

  return (token: string): Result<AccessToken, TokenRefused> => {
    const verified = verify(token);
    if (!verified.ok) return verified;
    const caller = readCaller(verified.value);
    if (!caller) return fail({ kind: 'malformed', cause: 'caller_claims_not_allowed' });
    const { iat, nbf, exp } = verified.value;
    if (nbf === undefined) return fail({ kind: 'malformed', cause: 'not_before_missing' });
    return ok({ caller, notBefore: Math.max(iat, nbf), expiresAt: exp });
  };
}
