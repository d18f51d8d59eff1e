import { createHash, createPublicKey } from 'node:crypto';
import type { KMS } from '@aws-sdk/client-kms';

/** Signs claims as a JWT with ES256. The private key never leaves KMS. Needs `kms:GetPublicKey` and `kms:Sign` on the key. */
export async function signJwt(
  kms: Pick<KMS, 'getPublicKey' | 'sign'>,
  KeyId: string,
  typ: 'JWT' | 'user-action+jwt',
  claims: object,
): Promise<string> {
  // May be cached for good: a key's ARN never gets another key.
  const { PublicKey = new Uint8Array() } = await kms.getPublicKey({ KeyId });
  const der = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' });
  const { crv, kty, x, y } = der.export({ format: 'jwk' });
  // The thumbprint: these members, in this order (RFC 7638, section 3.2).
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const content = `${encode({ alg: 'ES256', kid, typ })}.${encode(claims)}`;
  const Message = Buffer.from(content);
  const how = { MessageType: 'RAW', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
  const { Signature = new Uint8Array() } = await kms.sign({ KeyId, Message, ...how });
  return `${content}.${joseSignature(Signature).toString('base64url')}`;
}

/**
 * Converts a P-256 signature from DER (RFC 3279, section 2.2.3: what `kms:Sign` returns) to the 64 bytes `r || s` of JOSE
 * (RFC 7518, section 3.4). DER omits leading zeros, and adds one before an integer whose first bit is set.
 */
export function joseSignature(der: Uint8Array): Buffer {
  // SEQUENCE, its length; INTEGER, its length, r; INTEGER, its length, s. All lengths are below 128: one byte each.
  const endOfR = 4 + (der[3] ?? 0);
  const integers = [der.subarray(4, endOfR), der.subarray(endOfR + 2)];
  return Buffer.concat(integers.map((each) => Buffer.concat([Buffer.alloc(32), each]).subarray(-32)));
}
