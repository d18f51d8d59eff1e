import { generate } from 'selfsigned';

/** An authority for tests, and certificates that it signs. All PEM. */
export interface TestAuthority {
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

export async function createAuthority(): Promise<TestAuthority> {
  const authority = await generate([{ name: 'commonName', value: 'Test authority' }], {
    ...curve,
    notBeforeDate: fromNow(-10),
    notAfterDate: fromNow(10),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return {
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
