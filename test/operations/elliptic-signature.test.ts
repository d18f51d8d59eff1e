import { generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { joseSignature } from '../../lib/operations/elliptic-signature';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it('keeps a signature valid, whatever lengths its integers have', () => {
  // One in 128 signatures has an integer with a leading zero byte, so a thousand meet every length that matters.
  for (let message = 0; message < 1_000; message++) {
    const data = Buffer.from(String(message));
    const signature = joseSignature(sign('sha256', data, { key: privateKey, dsaEncoding: 'der' }));
    expect(signature).toHaveLength(64);
    expect(verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  }
});

it('pads a short integer and drops the zero byte before a large one', () => {
  const large = Buffer.alloc(32, 0xff);
  const der = Buffer.concat([Buffer.from([0x30, 38, 0x02, 1, 0x07, 0x02, 33, 0x00]), large]);
  expect(joseSignature(der)).toEqual(Buffer.concat([Buffer.alloc(31), Buffer.from([0x07]), large]));
});

it.each([
  ['nothing', ''],
  ['a bare integer', '020107'],
  ['a missing integer', '3003020107'],
  ['bytes after the sequence', '300602010702010700'],
  ['bytes after the integers', '300702010702010700'],
  ['a length beyond the end', '300602010702040700'],
  ['a negative integer', '3006020187020107'],
  ['an empty integer', '30050200020107'],
  ['an integer of 264 bits', `3026020107022101${'00'.repeat(32)}`],
  ['a length in the long form', '308106020107020107'],
])('refuses %s', (_, hex) => {
  expect(() => joseSignature(Buffer.from(hex, 'hex'))).toThrow('not one of P-256 in DER');
});

it('answers any bytes with 64 bytes or a refusal, never with something else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      let signature: Buffer | undefined;
      try {
        signature = joseSignature(bytes);
      } catch (error) {
        expect((error as Error).message).toContain('not one of P-256 in DER');
      }
      expect(signature?.length ?? 64).toBe(64);
    }),
  );
});
