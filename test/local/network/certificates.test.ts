import { X509Certificate } from 'node:crypto';
import { readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { type LocalCertificate, localCertificate } from '../../../local/network/certificates';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const certificateOf = (now = new Date()) => localCertificate({ directory: folder(), now });
const inDays = (days: number): Date => new Date(Date.now() + days * 24 * 60 * 60 * 1000);

test.each(['localhost', '127.0.0.1'])('a client that trusts the authority accepts %s', async (host) => {
  const certificate = await certificateOf();
  expect(await handshake(certificate, host, certificate.ca)).toBe('TLSv1.3');
});

test('a client refuses another name, and another authority', async () => {
  const certificate = await certificateOf();
  await expect(handshake(certificate, 'example.com', certificate.ca)).rejects.toThrow('altnames');
  const other = await localCertificate({ directory: join(folder(), 'other') });
  await expect(handshake(certificate, 'localhost', other.ca)).rejects.toThrow('unable to verify');
});

test('is kept between runs, with the keys closed to others', async () => {
  const first = await certificateOf();
  expect(await certificateOf()).toEqual(first);
  expect(await readFile(first.caFile, 'utf8')).toBe(first.ca);
  for (const name of ['ca-key.pem', 'server-key.pem']) {
    expect((await stat(join(folder(), name))).mode & 0o777).toBe(0o600);
  }
});

test('is renewed, under the same authority, when it nears its end', async () => {
  const first = await certificateOf();
  const later = await certificateOf(inDays(340));
  expect(later.cert).not.toBe(first.cert);
  expect(later.ca).toBe(first.ca);
});

test('the authority is renewed before it would end under a certificate, which is renewed with it', async () => {
  const first = await certificateOf();
  const now = inDays(3650 - 390);
  const later = await certificateOf(now);
  expect(later.ca).not.toBe(first.ca);
  expect(await certificateOf(now)).toEqual(later);
  const authority = new X509Certificate(later.ca);
  expect(new X509Certificate(later.cert).verify(authority.publicKey)).toBe(true);
});

test('files that were cut short are replaced', async () => {
  const { caFile } = await certificateOf();
  await truncate(caFile, 100);
  const again = await certificateOf();
  expect(await handshake(again, 'localhost', again.ca)).toBe('TLSv1.3');
});

async function handshake(server: LocalCertificate, servername: string, ca: string): Promise<string | null> {
  const listener = createServer({ key: server.key, cert: server.cert }, (socket) => socket.end());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  try {
    return await new Promise((resolve, reject) => {
      const isName = !/^[\d.]+$/.test(servername);
      const socket = connect({ host: '127.0.0.1', port, ca, ...(isName && { servername }) }, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.on('error', reject);
    });
  } finally {
    await new Promise((resolve) => listener.close(resolve));
  }
}
