import { JwtVerifier } from 'aws-jwt-verify';
import {
  JwtExpiredError,
  JwtInvalidAudienceError,
  JwtInvalidSignatureAlgorithmError,
  JwtInvalidSignatureError,
  JwtNotBeforeError,
  KidNotFoundInJwksError,
} from 'aws-jwt-verify/error';
import type { Jwks } from 'aws-jwt-verify/jwk';
import { fail, ok, type Result } from '../../domain/result';
import { parseStrictObject } from '../../domain/strict-json';

/** Why a token is refused: a cause for the log, by class. Nothing of the token itself goes into it. */
export interface TokenRefused {
  readonly kind: 'malformed' | 'signature_invalid' | 'expired' | 'not_yet_valid' | 'wrong_issuer';
  readonly cause: string;
}

/** What a token of one kind must be. */
export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** Values that the header's `typ` may have; undefined stands for an absent one. */
  readonly types: readonly (string | undefined)[];
  /** Seconds between `iat` and `exp`, at most. */
  readonly lifetimeSeconds: number;
  /** Seconds before `iat` and `nbf` from which on the token passes: what uses its claims then checks them. @default 0 */
  readonly earlySeconds?: number;
}

/** Times are in seconds since the epoch. */
export interface Claims extends Readonly<Record<string, unknown>> {
  readonly iat: number;
  readonly nbf?: number;
  readonly exp: number;
}
export type VerifyJwt = (token: string) => Result<Claims, TokenRefused>;

/** Seconds by which clocks may differ. */
export const clockToleranceSeconds = 5;

/** Far above any token of ours, far below the gateway's 10,240 bytes for all headers together. */
const maximumLength = 4096;

/** Bytes of an ES256 signature (RFC 7518 section 3.4). */
const signatureLength = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const base64url = /^[A-Za-z0-9_-]+$/;
const headerNames = new Set(['alg', 'kid', 'typ']);

/**
 * Makes a verifier of ES256 JWTs against a fixed set of public keys; it never goes to the network.
 *
 * The library verifies signature, issuer, audience, `exp` and `nbf`. It accepts a token without `exp`, an unknown `crit`
 * header, an array of audiences and signatures in another encoding of the same bytes: those are refused here first. It has
 * one grace for both times and leaves `iat` alone: they are judged here once more.
 *
 * @throws when `jwks` is not a JWKS document.
 */
export function createJwtVerifier(jwks: Jwks, rules: TokenRules): VerifyJwt {
  const verifier = JwtVerifier.create({
    issuer: rules.issuer,
    audience: rules.audience,
    jwksUri: 'https://keys.invalid/fixed-at-deployment',
    graceSeconds: clockToleranceSeconds + (rules.earlySeconds ?? 0),
  });
  verifier.cacheJwks(jwks);

  return (token) => {
    const structure = readStructure(token, rules);
    if (!structure.ok) return structure;
    try {
      verifier.verifySync(token);
    } catch (error) {
      return fail(refusalOf(error));
    }
    const refusal = refusalByTime(structure.value, rules);
    return refusal ? fail(refusal) : structure;
  };
}

function refusalByTime({ iat, nbf = 0, exp }: Claims, rules: TokenRules): TokenRefused | undefined {
  const now = Date.now() / 1000;
  const latestBegin = now + clockToleranceSeconds + (rules.earlySeconds ?? 0);
  if (exp + clockToleranceSeconds < now) return { kind: 'expired', cause: 'expired' };
  if (exp - iat > rules.lifetimeSeconds) return { kind: 'malformed', cause: 'lives_too_long' };
  if (nbf > latestBegin) return { kind: 'not_yet_valid', cause: 'not_yet_valid' };
  if (iat > latestBegin) return { kind: 'not_yet_valid', cause: 'issued_in_the_future' };
  return undefined;
}

const malformed = (cause: string) => fail({ kind: 'malformed', cause } as const);

function readStructure(token: string, rules: TokenRules): Result<Claims, TokenRefused> {
  if (token.length > maximumLength) return malformed('too_long');
  const [encodedHeader, encodedClaims, signature, ...rest] = token.split('.');
  if (!encodedHeader || !encodedClaims || !signature || rest.length > 0) return malformed('not_three_parts');
  if (![encodedHeader, encodedClaims, signature].every(isCanonicalBase64url))
    return malformed('not_base64url');
  const header = readObject(encodedHeader);
  if (!header) return malformed('header_not_an_object');
  const claims = readObject(encodedClaims);
  if (!claims) return malformed('claims_not_an_object');

  if (header.alg !== 'ES256') return malformed('algorithm_not_allowed');
  const unknownHeader = Object.keys(header).some((name) => !headerNames.has(name));
  if (unknownHeader) return malformed('header_not_allowed');
  if (typeof header.kid !== 'string' || header.kid === '') return malformed('key_id_missing');
  if (!rules.types.includes(header.typ as string | undefined)) return malformed('type_not_allowed');

  if (Buffer.from(signature, 'base64url').length !== signatureLength) {
    return fail({ kind: 'signature_invalid', cause: 'signature_length' });
  }

  const times = [claims.iat, claims.exp, ...('nbf' in claims ? [claims.nbf] : [])];
  if (!times.every(isTime)) return malformed('times_missing_or_not_integers');
  if (typeof claims.iss !== 'string') return malformed('issuer_missing');
  if (claims.aud !== rules.audience) return malformed('audience_not_allowed');
  if (claims.iss !== rules.issuer)
    return fail({ kind: 'wrong_issuer', cause: 'issuer_of_another_environment' });
  return ok(claims as Claims);
}

/** Another spelling of the same bytes would be a second token with the same signature. */
function isCanonicalBase64url(part: string): boolean {
  return base64url.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part;
}

/** Undefined unless it is a JSON object in UTF-8, without a byte order mark (RFC 8259 section 8.1). */
function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parseStrictObject(utf8.decode(Buffer.from(part, 'base64url')));
  } catch {
    return undefined;
  }
}

/** NumericDate of RFC 7519 in whole seconds, within what a `Date` can hold. */
function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e12;
}

function refusalOf(error: unknown): TokenRefused {
  if (error instanceof JwtExpiredError) return { kind: 'expired', cause: 'expired' };
  if (error instanceof JwtNotBeforeError) return { kind: 'not_yet_valid', cause: 'not_yet_valid' };
  if (error instanceof KidNotFoundInJwksError) return { kind: 'signature_invalid', cause: 'key_unknown' };
  if (error instanceof JwtInvalidSignatureError || error instanceof JwtInvalidSignatureAlgorithmError) {
    return { kind: 'signature_invalid', cause: 'signature_invalid' };
  }
  if (error instanceof JwtInvalidAudienceError) return { kind: 'malformed', cause: 'audience_not_allowed' };
  return { kind: 'malformed', cause: 'claims_not_allowed' };
}
