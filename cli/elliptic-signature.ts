/**
 * Converts a P-256 signature from DER (RFC 3279, section 2.2.3: what `kms:Sign` returns) to the 64 bytes `r || s`
 * of JOSE (RFC 7518, section 3.4). Other bytes give a signature that does not verify.
 */
export function joseSignature(der: Uint8Array): Buffer {
  // SEQUENCE, its length; INTEGER, its length, r; INTEGER, its length, s. All lengths are below 128: one byte each.
  const endOfR = 4 + (der[3] ?? 0);
  return Buffer.concat([coordinate(der.subarray(4, endOfR)), coordinate(der.subarray(endOfR + 2))]);
}

/** DER puts a zero byte before an integer whose first bit is set, and omits other leading zeros; JOSE pads to 32. */
const coordinate = (integer: Uint8Array) => Buffer.concat([Buffer.alloc(32), integer]).subarray(-32);
