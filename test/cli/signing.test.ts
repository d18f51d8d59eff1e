import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { joseSignature } from '../../cli/signing';

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
