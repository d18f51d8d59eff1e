import { createECDH, type KeyObject } from 'node:crypto';

/** Order of the curve P-256, a prime: SP 800-186, section 3.2.1.3. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Signs a digest (ECDSA, P-256, DER). Node.js cannot: its `sign` hashes what it gets. FIPS 186-5, section 6.4.1.
 * Only for keys of this machine: it is not constant in time.
 *
 * @param digest 32 bytes
 */
export function signDigest(digest: Buffer, privateKey: KeyObject): Buffer {
  const d = toInteger(Buffer.from(privateKey.export({ format: 'jwk' }).d as string, 'base64url'));
  const z = toInteger(digest);
  for (;;) {
    const ephemeral = createECDH('prime256v1');
    const r = toInteger(ephemeral.generateKeys().subarray(1, 33)) % ORDER;
    const s = (inverse(toInteger(ephemeral.getPrivateKey())) * ((z + r * d) % ORDER)) % ORDER;
    if (r !== 0n && s !== 0n) return der(0x30, Buffer.concat([derInteger(r), derInteger(s)]));
  }
}

const toInteger = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

/** By the extended Euclidean algorithm. */
function inverse(value: bigint): bigint {
  let [a, b, x, y] = [ORDER, value, 0n, 1n];
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return x < 0n ? x + ORDER : x;
}

/** A first bit of 1 would make it negative. */
function derInteger(value: bigint): Buffer {
  const hex = value.toString(16);
  const padding = hex.length % 2 === 1 ? '0' : hex >= '8' ? '00' : '';
  return der(0x02, Buffer.from(padding + hex, 'hex'));
}

const der = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.of(tag, content.length), content]);
