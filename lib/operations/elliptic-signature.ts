const coordinateLength = 32;

/**
 * Converts a P-256 signature from DER (RFC 3279, section 2.2.3: what `kms:Sign` returns) to the 64 bytes `r || s`
 * of JOSE (RFC 7518, section 3.4).
 *
 * @throws Error when the bytes are not one DER sequence of two positive integers of at most 256 bits.
 */
export function joseSignature(der: Uint8Array): Buffer {
  const bytes = Buffer.from(der);
  const [sequence, afterSequence] = readElement(bytes, 0x30);
  const [r, rest] = readElement(sequence, 0x02);
  const [s, afterIntegers] = readElement(rest, 0x02);
  if (afterSequence.length > 0 || afterIntegers.length > 0) throw malformed('has bytes left over');
  return Buffer.concat([coordinate(r), coordinate(s)]);
}

/** A signature has at most 72 bytes, so every length fits the short form: one byte below 0x80. */
function readElement(bytes: Buffer, tag: number): [content: Buffer, rest: Buffer] {
  const length = bytes[1];
  if (bytes[0] !== tag || length === undefined || length >= 0x80 || bytes.length < 2 + length) {
    throw malformed(`has no element of type ${tag}`);
  }
  return [bytes.subarray(2, 2 + length), bytes.subarray(2 + length)];
}

/** DER puts a zero byte before an integer whose first bit is set, and leaves out other leading zeros; JOSE pads to 32. */
function coordinate(integer: Buffer): Buffer {
  const [first = 0x80] = integer;
  if (first >= 0x80) throw malformed('has an integer that is not positive');
  const magnitude = first === 0 ? integer.subarray(1) : integer;
  if (magnitude.length > coordinateLength) throw malformed('has an integer of more than 256 bits');
  return Buffer.concat([Buffer.alloc(coordinateLength - magnitude.length), magnitude]);
}

const malformed = (what: string) => new Error(`The signature is not one of P-256 in DER: it ${what}.`);
