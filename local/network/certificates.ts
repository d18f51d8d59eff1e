import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** A certificate for `localhost` and 127.0.0.1. Contents are PEM. */
export interface LocalCertificate {
  readonly key: string;
  /** Self-signed: clients trust this certificate itself. */
  readonly cert: string;
  /** Absolute. */
  readonly certFile: string;
}

interface CertificateOptions {
  /** Folder of the key and the certificate; created if absent. */
  readonly directory: string;
  /** @default - the current time */
  readonly now?: Date;
}

const day = 24 * 60 * 60 * 1000;

/** The certificate in a folder: created on first use, renewed a month before it expires. */
export async function localCertificate(options: CertificateOptions): Promise<LocalCertificate> {
  const { directory, now = new Date() } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const certFile = resolve(directory, 'localhost.pem');
  const keyFile = join(directory, 'localhost-key.pem');
  const read = () => Promise.all([readFile(keyFile, 'utf8'), readFile(certFile, 'utf8')]);
  const [key, cert] = await read().catch(() => ['', '']);
  if (isUsable(key, cert, now)) return { key, cert, certFile };
  const made = await generateCertificate(now);
  await writeFile(keyFile, made.key, { mode: 0o600 });
  await writeFile(certFile, made.cert);
  return { ...made, certFile };
}

function isUsable(key: string, cert: string, now: Date): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const left = new Date(parsed.validTo).getTime() - now.getTime();
    return left > 30 * day && parsed.checkPrivateKey(createPrivateKey(key));
  } catch {
    // Absent, or truncated by a crash.
    return false;
  }
}

async function generateCertificate(now: Date): Promise<{ key: string; cert: string }> {
  // Loaded lazily: it is slow, and most starts find a certificate.
  const { generate } = await import('selfsigned');
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // Valid from yesterday, for clients whose clock is slow.
    notBeforeDate: new Date(now.getTime() - day),
    notAfterDate: new Date(now.getTime() + 3650 * day),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { key, cert };
}
