import { generate } from 'selfsigned';

export type TestAuthority = Awaited<ReturnType<typeof createAuthority>>;

const curve = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** An authority for tests, and certificates that it signs. All PEM. */
export async function createAuthority() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Test authority' }], {
    ...curve,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return {
    cert,
    async issue(server: { readonly name: string; readonly notBefore?: Date; readonly notAfter?: Date }) {
      const issued = await generate([{ name: 'commonName', value: server.name }], {
        ...curve,
        notBeforeDate: server.notBefore ?? new Date(),
        notAfterDate: server.notAfter ?? new Date(2100, 0),
        ca: { key, cert },
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: server.name }] }],
      });
      return { key: issued.private, cert: issued.cert };
    },
  };
}
