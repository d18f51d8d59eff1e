import { generate } from 'selfsigned';

/** An authority for tests, and certificates that it signs. All PEM. */
export interface TestAuthority {
  readonly key: string;
  readonly cert: string;
  /** A server's certificate; valid by default for a day to either side of now. */
  issue(options: {
    readonly name: string;
    readonly notBefore?: Date;
    readonly notAfter?: Date;
  }): Promise<{ readonly key: string; readonly cert: string }>;
}

const day = 86_400_000;
const curve = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
const fromNow = (days: number) => new Date(Date.now() + days * day);

/** @param issuer signs the authority's certificate. @default - itself: a root */
export async function createAuthority(
  commonName = 'Test authority',
  issuer?: TestAuthority,
): Promise<TestAuthority> {
  const authority = await generate([{ name: 'commonName', value: commonName }], {
    ...curve,
    ...(issuer && { ca: { key: issuer.key, cert: issuer.cert } }),
    notBeforeDate: fromNow(-10),
    notAfterDate: fromNow(10),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return {
    key: authority.private,
    cert: authority.cert,
    async issue({ name, notBefore = fromNow(-1), notAfter = fromNow(1) }) {
      const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
        ...curve,
        notBeforeDate: notBefore,
        notAfterDate: notAfter,
        ca: { key: authority.private, cert: authority.cert },
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
      });
      return { key, cert };
    },
  };
}
