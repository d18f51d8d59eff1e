import { JwtVerifier } from 'aws-jwt-verify';
import {
  JwtInvalidSignatureAlgorithmError,
  JwtInvalidSignatureError,
  KidNotFoundInJwksError,
} from 'aws-jwt-verify/error';
import type { Jwks } from 'aws-jwt-verify/jwk';
import { fail, ok, type Result } from '../../domain/result';
import type { tokenDetails } from '../../domain/routes';
import { parseStrictObject } from '../../domain/strict-json';

/** Why a token is refused. The cause is for the log, and contains nothing of the token. */
export interface TokenRefused {
  readonly code: keyof typeof tokenDetails;
  readonly cause: string;
}

interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** Permitted values of the header `typ`; undefined: absent. */
  readonly types: readonly (string | undefined)[];
  /** Seconds between `iat` and `exp`, at most. */
  readonly lifetimeSeconds: number;
  /** Seconds before `iat` and `nbf` at which the token is accepted; the caller checks the times again. @default 0 */
  readonly earlySeconds?: number;
}

/** Times are in seconds since the epoch. */
export interface Claims extends Readonly<Record<string, unknown>> {
  readonly iat: number;
  readonly nbf?: number;
  readonly exp: number;
}
export type VerifyJwt = (token: string) => Result<Claims, TokenRefused>;

/** Permitted clock skew, in seconds. */
export const clockToleranceSeconds = 5;

/** Far above the length of our tokens, far below the gateway's 10,240 bytes for all headers together. */
const maxTokenLength = 4096;

/** Bytes of an ES256 signature (RFC 7518 section 3.4). */
const signatureLength = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const headerNames = new Set(['alg', 'kid', 'typ']);

const refuse = (code: TokenRefused['code'], cause: string) => fail({ code, cause });
const malformed = (cause: string) => refuse('token_malformed', cause);

/**
 * Needs no network. The library accepts a token without `exp`, an unknown `crit` header, an array of audiences and signatures in
 * another encoding of the same bytes, and ignores `iat`: we check all of these.
 */
export function createJwtVerifier(jwks: Jwks, rules: TokenRules): VerifyJwt {
  const verifier = JwtVerifier.create({
    issuer: rules.issuer,
    audience: rules.audience,
    jwksUri: 'https://keys.invalid/fixed-at-deployment',
    // `checkTimes` checks times: the library has one tolerance for both.
    graceSeconds: Number.MAX_SAFE_INTEGER,
  });
  verifier.cacheJwks(jwks);

  return (token) => {
    const claims = readClaims(token, rules);
    if (!claims.ok) return claims;
    try {
      verifier.verifySync(token);
    } catch (error) {
      if (error instanceof KidNotFoundInJwksError) return refuse('token_signature_invalid', 'key_unknown');
      return error instanceof JwtInvalidSignatureError || error instanceof JwtInvalidSignatureAlgorithmError
        ? refuse('token_signature_invalid', 'signature_invalid')
        : malformed('claims_not_allowed');
    }
    return checkTimes(claims.value, rules);
  };
}

function readClaims(token: string, rules: TokenRules): Result<Claims, TokenRefused> {
  if (token.length > maxTokenLength) return malformed('too_long');
  const parts = token.split('.');
  const [encodedHeader, encodedClaims, signature] = parts;
  if (!encodedHeader || !encodedClaims || !signature || parts.length > 3) return malformed('not_three_parts');
  // Another encoding of the same bytes would be a second token with the same signature.
  const isCanonical = (part: string) => Buffer.from(part, 'base64url').toString('base64url') === part;
  if (!parts.every(isCanonical)) return malformed('not_base64url');
  const header = readObject(encodedHeader);
  if (!header) return malformed('header_not_an_object');
  const claims = readObject(encodedClaims);
  if (!claims) return malformed('claims_not_an_object');

  if (header.alg !== 'ES256') return malformed('algorithm_not_allowed');
  if (Object.keys(header).some((name) => !headerNames.has(name))) return malformed('header_not_allowed');
  if (typeof header.kid !== 'string' || header.kid === '') return malformed('key_id_missing');
  if (!rules.types.includes(header.typ as string | undefined)) return malformed('type_not_allowed');
  if (Buffer.from(signature, 'base64url').length !== signatureLength) {
    return refuse('token_signature_invalid', 'signature_length');
  }

  const times = [claims.iat, claims.exp, ...('nbf' in claims ? [claims.nbf] : [])];
  if (!times.every(isTime)) return malformed('times_missing_or_not_integers');
  if (typeof claims.iss !== 'string') return malformed('issuer_missing');
  if (claims.aud !== rules.audience) return malformed('audience_not_allowed');
  if (claims.iss !== rules.issuer) return refuse('token_wrong_region', 'issuer_of_another_environment');
  return ok(claims as Claims);
}

function checkTimes(claims: Claims, rules: TokenRules): Result<Claims, TokenRefused> {
  const { iat, nbf = 0, exp } = claims;
  const now = Date.now() / 1000;
  const latestStart = now + clockToleranceSeconds + (rules.earlySeconds ?? 0);
  if (exp + clockToleranceSeconds < now) return refuse('token_expired', 'expired');
  if (exp - iat > rules.lifetimeSeconds) return malformed('lives_too_long');
  if (nbf > latestStart) return refuse('token_not_yet_valid', 'not_yet_valid');
  if (iat > latestStart) return refuse('token_not_yet_valid', 'issued_in_the_future');
  return ok(claims);
}

/** Undefined unless the part is a JSON object in UTF-8, without a byte order mark (RFC 8259 section 8.1). */
function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parseStrictObject(utf8.decode(Buffer.from(part, 'base64url')));
  } catch {
    return undefined;
  }
}

/** NumericDate of RFC 7519 in whole seconds, within the range of `Date`. */
function isTime(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e12;
}
