import { X509Certificate } from 'node:crypto';
import { certificateAuthorities } from '../../lib/database/database';
import { environments } from '../../lib/environments';

const certificates = (region: string) =>
  certificateAuthorities({ name: 'any', region })
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .map((pem) => new X509Certificate(pem));

it.each(environments.map(({ region }) => region))(
  "%s has its own three roots, and no other region's",
  (region) => {
    const roots = certificates(region);
    expect(roots.map(({ subject }) => /CN=(.*)/.exec(subject)?.[1])).toEqual([
      `Amazon RDS ${region} Root CA RSA2048 G1`,
      `Amazon RDS ${region} Root CA RSA4096 G1`,
      `Amazon RDS ${region} Root CA ECC384 G1`,
    ]);
    for (const root of roots) {
      expect(root.ca && root.verify(root.publicKey)).toBe(true);
      expect(new Date(root.validTo).getUTCFullYear()).toBeGreaterThan(2060);
    }
  },
);

it('refuses a region that it does not know, with a remedy', () => {
  expect(() => certificateAuthorities({ name: 'any', region: 'xx-nowhere-1' })).toThrow(
    /^any\.region is "xx-nowhere-1"\. .*no "Amazon RDS xx-nowhere-1 Root CA RSA2048 G1".*Update the package/,
  );
});
