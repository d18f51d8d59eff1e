import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { generate } from 'selfsigned';

export interface LocalCertificateOptions {
  /** Where keys and certificates are kept between runs. Made when it is not there. */
  readonly directory: string;
  /** Host names to stand for, beside `localhost` and 127.0.0.1. */
  readonly names?: readonly string[];
  /** @default - the present time */
  readonly now?: Date;
}

/** A server's certificate, of an authority that exists on this machine only. Contents are PEM. */
export interface LocalCertificate {
  /** For `NODE_EXTRA_CA_CERTS`: an absolute path. */
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
/** A run of the local environment may be long: nothing may expire under it. */
const renewalMargin = 30 * day;

/** The certificate for servers on this machine; made on first use, and anew when it nears its end or lacks a name. */
export async function localCertificate(options: LocalCertificateOptions): Promise<LocalCertificate> {
  const directory = resolve(options.directory);
  const now = options.now ?? new Date();
  const names = ['localhost', ...(options.names ?? [])];
  await mkdir(directory, { recursive: true, mode: 0o700 });

  const authority =
    (await readPair(directory, 'ca', (cert) => lasts(cert, now, serverLifetime + renewalMargin))) ??
    (await writePair(directory, 'ca', await makeAuthority(now)));
  const serves = (cert: X509Certificate): boolean =>
    lasts(cert, now, renewalMargin) &&
    cert.verify(new X509Certificate(authority.cert).publicKey) &&
    cert.checkIP('127.0.0.1') !== undefined &&
    names.every((name) => cert.checkHost(name) !== undefined);
  const server =
    (await readPair(directory, 'server', serves)) ??
    (await writePair(directory, 'server', await makeServer(authority, names, now)));

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
    // Absent, cut short by a crash, or edited: made anew.
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

async function makeAuthority(now: Date): Promise<KeyPair> {
  const { private: key, cert } = await generate(
    // A name of its own, so that a client is not misled by an authority of before.
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

async function makeServer(ca: KeyPair, names: readonly string[], now: Date): Promise<KeyPair> {
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
        altNames: [...names.map((value) => ({ type: 2 as const, value })), { type: 7, ip: '127.0.0.1' }],
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
