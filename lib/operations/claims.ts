import { createHash, randomUUID } from 'node:crypto';
import type { CallerClaims } from './caller';

interface TokenFacts {
  /** The environment's issuer. */
  readonly issuer: string;
  readonly caller: CallerClaims;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
  /** Seconds until it expires. */
  readonly lifetime: number;
}

/** The request that a user action signs. */
export interface SignedRequest {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly body: string;
}

/** The claims of an access token. */
export const accessTokenClaims = ({ issuer, caller, issuedAt, lifetime }: TokenFacts) => ({
  iss: issuer,
  aud: 'wallet-api',
  sub: caller.sub,
  org: caller.org,
  kind: caller.kind,
  iat: issuedAt,
  nbf: issuedAt,
  exp: issuedAt + lifetime,
});

/** The claims of a user action, which may live five minutes at most: bound to one caller and one request, good for one use. */
export const userActionClaims = (
  { issuer, caller, issuedAt, lifetime }: TokenFacts,
  request: SignedRequest,
) => ({
  iss: issuer,
  aud: 'wallet-user-action',
  sub: caller.sub,
  org: caller.org,
  jti: randomUUID(),
  htm: request.method,
  htp: request.path,
  bh: createHash('sha256').update(request.body).digest('base64url'),
  iat: issuedAt,
  exp: issuedAt + lifetime,
});
