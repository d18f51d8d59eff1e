import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface LocalCertificateOptions {
  /** Where keys and certificates are kept between runs; created when absent. */
  readonly directory: string;
  /** @default - the present time */
  readonly now?: Date;
}

/** A server's certificate, signed by an authority of this machine. Contents are PEM. */
export interface LocalCertificate {
  /** An absolute path. */
  readonly caFile: string;
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

const day = 24 * 60 * 60 * 1000;
const authorityLifetime = 3650 * day;
const serverLifetime = 365 * day;
/** A run may be long, and nothing may expire during it. */
const renewalMargin = 30 * day;

/** The certificate for `localhost` and 127.0.0.1; created on first use, and renewed when it nears its end. */
export async function localCertificate(options: LocalCertificateOptions): Promise<LocalCertificate> {
  const directory = resolve(options.directory);
  const now = options.now ?? new Date();
  await mkdir(directory, { recursive: true, mode: 0o700 });

  const authority =
    (await readPair(directory, 'ca', (cert) => lasts(cert, now, serverLifetime + renewalMargin))) ??
    (await writePair(directory, 'ca', await makeAuthority(now)));
  const serves = (cert: X509Certificate): boolean =>
    lasts(cert, now, renewalMargin) && cert.verify(new X509Certificate(authority.cert).publicKey);
  const server =
    (await readPair(directory, 'server', serves)) ??
    (await writePair(directory, 'server', await makeServer(authority, now)));

  return { caFile: join(directory, 'ca.pem'), ca: authority.cert, key: server.key, cert: server.cert };
}

function lasts(cert: X509Certificate, now: Date, milliseconds: number): boolean {
  return (
    new Date(cert.validFrom).getTime() <= now.getTime() &&
    new Date(cert.validTo).getTime() > now.getTime() + milliseconds
  );
}

async function readPair(
  directory: string,
  name: string,
  isGood: (cert: X509Certificate) => boolean,
): Promise<KeyPair | undefined> {
  try {
    const cert = await readFile(join(directory, `${name}.pem`), 'utf8');
    const key = await readFile(join(directory, `${name}-key.pem`), 'utf8');
    const parsed = new X509Certificate(cert);
    return parsed.checkPrivateKey(createPrivateKey(key)) && isGood(parsed) ? { key, cert } : undefined;
  } catch {
    // Absent, cut short by a crash, or edited.
    return undefined;
  }
}

async function writePair(directory: string, name: string, pair: KeyPair): Promise<KeyPair> {
  await replaceFile(join(directory, `${name}-key.pem`), pair.key, 0o600);
  await replaceFile(join(directory, `${name}.pem`), pair.cert, 0o644);
  return pair;
}

async function replaceFile(path: string, content: string, mode: number): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, content, { mode });
  await rename(unfinished, path);
}

/** Loading it takes longer than all else here, and most starts find their certificates. */
const selfsigned = () => import('selfsigned');

async function makeAuthority(now: Date): Promise<KeyPair> {
  const { generate } = await selfsigned();
  const { private: key, cert } = await generate(
    // A unique name, so that a client does not mistake it for an earlier authority.
    [{ name: 'commonName', value: `Wallet infrastructure local authority ${randomUUID()}` }],
    {
      ...ellipticCurve,
      ...validity(now, authorityLifetime),
      extensions: [
        { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
      ],
    },
  );
  return { key, cert };
}

async function makeServer(ca: KeyPair, now: Date): Promise<KeyPair> {
  const { generate } = await selfsigned();
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...ellipticCurve,
    ...validity(now, serverLifetime),
    ca,
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

const ellipticCurve = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;

/** From a day ago, for clients whose clock is behind. */
function validity(now: Date, lifetime: number): { notBeforeDate: Date; notAfterDate: Date } {
  return { notBeforeDate: new Date(now.getTime() - day), notAfterDate: new Date(now.getTime() + lifetime) };
}
