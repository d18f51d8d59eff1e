import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeText } from '../../state/json';

/** A certificate for `localhost`. Contents are PEM. */
export interface LocalCertificate {
  readonly key: string;
  /** Self-signed: clients trust this certificate itself. */
  readonly cert: string;
  /** Absolute. */
  readonly certFile: string;
}

const day = 24 * 60 * 60 * 1000;

/** The certificate in a folder, created on first use for ten years. */
export async function localCertificate(directory: string): Promise<LocalCertificate> {
  const certFile = resolve(directory, 'localhost.pem');
  const keyFile = join(directory, 'localhost-key.pem');
  try {
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8'), certFile };
  } catch {
    const { key, cert } = await generateCertificate();
    mkdirSync(directory, { recursive: true });
    writeText(keyFile, key);
    writeText(certFile, cert);
    return { key, cert, certFile };
  }
}

async function generateCertificate(): Promise<{ key: string; cert: string }> {
  // Loaded lazily: it is slow, and most starts find a certificate.
  const { generate } = await import('selfsigned');
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 3650 * day),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  return { key, cert };
}
