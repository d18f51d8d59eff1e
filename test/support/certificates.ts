import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

export type TestAuthority = Awaited<ReturnType<typeof createAuthority>>;

const curve = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** An authority for tests, and certificates that it signs. All PEM. */
export async function createAuthority() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Test authority' }], {
    ...curve,
    notBeforeDate: inDays(-10),
    notAfterDate: inDays(10),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return {
    cert,
    /** A server's certificate. */
    async issue(server: { readonly name: string; readonly notBefore?: Date; readonly notAfter?: Date }) {
      const issued = await generate([{ name: 'commonName', value: server.name }], {
        ...curve,
        notBeforeDate: server.notBefore ?? inDays(-1),
        notAfterDate: server.notAfter ?? inDays(1),
        ca: { key, cert },
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: server.name }] }],
      });
      return { key: issued.private, cert: issued.cert };
    },
  };
}

/** Of a certificate. */
export interface OpenSslCertificate {
  /** OpenSSL's name of a new one. @default - of P-256 */
  readonly key?: string;
  /** Of the command that signs it. @default `-sha256` */
  readonly options?: string;
  /** More of them, or others, as in OpenSSL's configuration. */
  readonly extensions?: string;
}

/** A chain of a root, an intermediate and a server's certificate, with what `selfsigned` refuses to make. All PEM. */
export function issueByOpenSsl(name: string, leaf: OpenSslCertificate, intermediate: OpenSslCertificate) {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-certificates-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const issue = (
    file: string,
    by: string[],
    extensions: string[],
    { key, options, ...own }: OpenSslCertificate,
  ) => {
    const added = Object.fromEntries(
      [...extensions, own.extensions ?? ''].map((each) => each.split(/=(.*)/)),
    );
    openssl(
      ...['req', '-x509', '-nodes', '-days', '2', '-subj', `/CN=${file}`, ...newKey(key)],
      ...[options ?? '-sha256', '-keyout', `${file}.key`, '-out', `${file}.pem`, ...by],
      ...Object.entries(added).flatMap(([key, value]) => (key ? ['-addext', `${key}=${value}`] : [])),
    );
  };
  const newKey = (key = 'ec') => [
    '-newkey',
    key,
    ...(key === 'ec' ? ['-pkeyopt', 'ec_paramgen_curve:P-256'] : []),
  ];
  const by = (file: string) => ['-CA', `${file}.pem`, '-CAkey', `${file}.key`];
  const authority = ['basicConstraints=critical,CA:TRUE', 'keyUsage=keyCertSign'];
  try {
    issue('root', [], [], {});
    issue('intermediate', by('root'), authority, intermediate);
    issue('leaf', by('intermediate'), ['basicConstraints=CA:FALSE', `subjectAltName=DNS:${name}`], leaf);
    const read = (file: string) => readFileSync(join(folder, file), 'utf8');
    return {
      key: read('leaf.key'),
      cert: read('leaf.pem') + read('intermediate.pem'),
      root: read('root.pem'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
