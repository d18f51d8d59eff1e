import { createECDH, type KeyObject } from 'node:crypto';

/** Order of the curve P-256: FIPS 186-5, SP 800-186 section 3.2.1.3. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Signs a digest that is already made (ECDSA, P-256, DER), which Node.js has no call for: its own hashes what it is
 * given. FIPS 186-5, section 6.4.1. For keys of this machine only: it takes no care of timing.
 *
 * @param digest 32 bytes
 */
export function signDigest(digest: Buffer, privateKey: KeyObject): Buffer {
  const d = toInteger(Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url'));
  const z = toInteger(digest);
  for (;;) {
    const once = createECDH('prime256v1');
    const r = toInteger(once.generateKeys().subarray(1, 33)) % ORDER;
    const s = (inverse(toInteger(once.getPrivateKey())) * ((z + r * d) % ORDER)) % ORDER;
    if (r !== 0n && s !== 0n) return sequence(derInteger(r), derInteger(s));
  }
}

function toInteger(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

/** By Fermat: the order is a prime. */
function inverse(value: bigint): bigint {
  let result = 1n;
  let base = value % ORDER;
  for (let exponent = ORDER - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % ORDER;
    base = (base * base) % ORDER;
  }
  return result;
}

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  // A first bit of 1 would make it negative.
  const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
  return Buffer.concat([Buffer.of(0x02, positive.length), positive]);
}

function sequence(...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(0x30, content.length), content]);
}
