import { X509Certificate } from 'node:crypto';
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

/** The certificate in a folder, created for ten years on first use, or when the stored one is not valid now. */
export async function localCertificate(directory: string): Promise<LocalCertificate> {
  const certFile = resolve(directory, 'localhost.pem');
  const keyFile = join(directory, 'localhost-key.pem');
  try {
    const cert = readFileSync(certFile, 'utf8');
    const { validFrom, validTo } = new X509Certificate(cert);
    // A machine's clock may have been wrong.
    if (Date.parse(validFrom) > Date.now() || Date.parse(validTo) < Date.now() + day) throw new Error();
    return { key: readFileSync(keyFile, 'utf8'), cert, certFile };
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
