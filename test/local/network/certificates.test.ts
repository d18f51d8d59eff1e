import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { type LocalCertificate, localCertificate } from '../../../lib/local/network/certificates';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'wallet-test-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const inDays = (days: number): Date => new Date(Date.now() + days * 24 * 60 * 60 * 1000);

test.each(['localhost', '127.0.0.1', 'database.local'])(
  'a client that trusts the authority accepts %s',
  async (host) => {
    const certificate = await localCertificate({ directory, names: ['database.local'] });
    expect(await handshake(certificate, host, certificate.ca)).toBe('TLSv1.3');
  },
);

test('a client refuses another name, and another authority', async () => {
  const certificate = await localCertificate({ directory });
  await expect(handshake(certificate, 'example.com', certificate.ca)).rejects.toThrow('altnames');
  const other = await localCertificate({ directory: join(directory, 'other') });
  await expect(handshake(certificate, 'localhost', other.ca)).rejects.toThrow('unable to verify');
});

test('is kept between runs, with the keys closed to others', async () => {
  const first = await localCertificate({ directory });
  expect(await localCertificate({ directory })).toEqual(first);
  expect(await readFile(first.caFile, 'utf8')).toBe(first.ca);
  for (const name of ['ca-key.pem', 'server-key.pem']) {
    expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  }
});

test('is renewed, under the same authority, when it nears its end or lacks a name', async () => {
  const first = await localCertificate({ directory });
  const named = await localCertificate({ directory, names: ['other.local'] });
  expect(new X509Certificate(named.cert).checkHost('other.local')).toBeDefined();
  const later = await localCertificate({ directory, now: inDays(340) });
  expect(later.cert).not.toBe(named.cert);
  expect([named.ca, later.ca]).toEqual([first.ca, first.ca]);
});

test('the authority is renewed before it would end under a certificate, which is renewed with it', async () => {
  const first = await localCertificate({ directory });
  const now = inDays(3650 - 390);
  const later = await localCertificate({ directory, now });
  expect(later.ca).not.toBe(first.ca);
  expect(await localCertificate({ directory, now })).toEqual(later);
  const authority = new X509Certificate(later.ca);
  expect(new X509Certificate(later.cert).verify(authority.publicKey)).toBe(true);
});

test('files that were cut short are made anew', async () => {
  const { caFile } = await localCertificate({ directory });
  await truncate(caFile, 100);
  const again = await localCertificate({ directory });
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
