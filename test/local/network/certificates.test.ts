import { stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { type LocalCertificate, localCertificate } from '../../../local/network/certificates';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const certificateIn = (days = 0) =>
  localCertificate({ directory: folder(), now: new Date(Date.now() + days * 24 * 60 * 60 * 1000) });

test.each([
  ['localhost', 'TLSv1.3'],
  ['127.0.0.1', 'TLSv1.3'],
  ['example.com', 'ERR_TLS_CERT_ALTNAME_INVALID'],
])('a client that trusts the certificate connects to %s: %s', async (host, result) => {
  const certificate = await certificateIn();
  expect(await connectTo(certificate, host, certificate.cert)).toBe(result);
});

test('a client that trusts the certificate of another machine does not connect', async () => {
  const other = await localCertificate({ directory: join(folder(), 'other') });
  expect(await connectTo(await certificateIn(), 'localhost', other.cert)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('the certificate is reused until it is about to expire; only its owner can read the key', async () => {
  const first = await certificateIn();
  expect(await certificateIn(3_600)).toEqual(first);
  expect((await stat(join(folder(), 'localhost-key.pem'))).mode & 0o777).toBe(0o600);
  expect((await certificateIn(3_630)).cert).not.toBe(first.cert);
});

test('a damaged certificate is replaced', async () => {
  await truncate((await certificateIn()).certFile, 100);
  const { cert } = await certificateIn();
  expect(await connectTo(await certificateIn(), 'localhost', cert)).toBe('TLSv1.3');
});

/** The protocol, or the code of the client's error. */
async function connectTo(server: LocalCertificate, host: string, ca: string): Promise<unknown> {
  const listener = createServer({ key: server.key, cert: server.cert }, (socket) => socket.end());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  try {
    return await new Promise((resolve) => {
      const name = host === '127.0.0.1' ? {} : { servername: host };
      const socket = connect({ host: '127.0.0.1', port, ca, ...name }, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    });
  } finally {
    await new Promise((resolve) => listener.close(resolve));
  }
}
