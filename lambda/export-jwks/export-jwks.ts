import { createPublicKey } from 'node:crypto';
import { thumbprint } from '../../domain/tokens';

/** A public key for ES256 signatures as RFC 7517 writes it. `kid` is the key's RFC 7638 thumbprint. */
export type PublicJwk = {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
  readonly kid: string;
};

/**
 * Turns a public key into a JWK.
 *
 * @param subjectPublicKeyInfo DER, as KMS gives it.
 * @throws Error when the key is not on the curve P-256.
 */
export function toJwk(subjectPublicKeyInfo: Uint8Array): PublicJwk {
  const key = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  const { kty, crv, x, y } = key.export({ format: 'jwk' });
  if (kty !== 'EC' || crv !== 'P-256' || !x || !y) {
    throw new Error(`The key is ${kty ?? 'unknown'} on ${crv ?? 'no curve'}: ES256 needs EC on P-256.`);
  }
  return { kty, crv, x, y, alg: 'ES256', use: 'sig', kid: thumbprint({ kty, crv, x, y }) };
}
