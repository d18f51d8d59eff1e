import { createPublicKey, randomUUID } from 'node:crypto';
import type { OutputName } from '../../domain/outputs';
import { accessToken, bodyHash, thumbprint, userAction } from '../../domain/tokens';
import { ask } from '../shell/aws';
import { runOperation } from '../shell/operations';
import type { Target } from '../shell/target';

/** The caller's claims in a token. */
export interface CallerClaims {
  readonly sub: string;
  readonly org: string;
  readonly kind: string;
}

/** Looks up a caller in its region. Warns if it is deactivated: the API will refuse its tokens. */
export async function readCallerClaims(target: Target, identityId: string): Promise<CallerClaims> {
  const { organizationId, kind, active } = await runOperation(target, 'describe-identity', { identityId });
  if (!active) target.note(`warning: ${identityId} is deactivated; the API will refuse it.`);
  return { sub: identityId, org: organizationId, kind };
}

/** Seconds since the epoch. */
const now = () => Math.floor(Date.now() / 1_000);

/** Signs an access token. @param lifetime seconds, at most a day */
export function signAccessToken(target: Target, caller: CallerClaims, lifetime: number) {
  const iat = now();
  return sign(target, 'TokenSigningKeyArn', accessToken, { ...caller, iat, nbf: iat }, lifetime);
}

/** The request that a user action signs. */
export interface SignedRequest {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly body: string;
}

/** Signs a single request of the caller, for five minutes: the API accepts no longer. */
export function signUserAction(
  target: Target,
  { sub, org }: CallerClaims,
  { method, path, body }: SignedRequest,
) {
  const claims = { sub, org, iat: now(), jti: randomUUID(), htm: method, htp: path, bh: bodyHash(body) };
  return sign(target, 'UserActionSigningKeyArn', userAction, claims, 300);
}

/** Signs claims with ES256; the private key never leaves KMS. Needs `kms:GetPublicKey`, `kms:Sign`. */
async function sign(
  target: Target,
  key: OutputName,
  { type: typ, audience }: { readonly type: string; readonly audience: string },
  own: { readonly iat: number; readonly [claim: string]: unknown },
  lifetime: number,
) {
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const KeyId = target.output(key);
  const { PublicKey } = await ask(client, 'getPublicKey', { KeyId });
  const der = Buffer.from(PublicKey ?? []);
  const jwk = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({ format: 'jwk' });
  const exp = own.iat + lifetime;
  const header = { alg: 'ES256', kid: thumbprint(jwk), typ };
  const claims = { iss: target.environment.tokenIssuer, aud: audience, ...own, exp };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const content = `${encode(header)}.${encode(claims)}`;
  const { Signature = new Uint8Array() } = await ask(client, 'sign', {
    KeyId,
    Message: Buffer.from(content),
    MessageType: 'RAW',
    SigningAlgorithm: 'ECDSA_SHA_256',
  });
  const token = `${content}.${joseSignature(Signature).toString('base64url')}`;
  return { token, expiresAt: new Date(exp * 1_000).toISOString() };
}

/**
 * Converts a P-256 signature from DER (RFC 3279, section 2.2.3: what `kms:Sign` returns) to the 64 bytes `r || s`
 * of JOSE (RFC 7518, section 3.4).
 */
export function joseSignature(der: Uint8Array): Buffer {
  // SEQUENCE, its length; INTEGER, its length, r; INTEGER, its length, s. All lengths are below 128: one byte each.
  const endOfR = 4 + (der[3] ?? 0);
  return Buffer.concat([coordinate(der.subarray(4, endOfR)), coordinate(der.subarray(endOfR + 2))]);
}

/** DER puts a zero byte before an integer whose first bit is set, and omits other leading zeros; JOSE pads to 32. */
const coordinate = (integer: Uint8Array) => Buffer.concat([Buffer.alloc(32), integer]).subarray(-32);
