import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { callApi } from '../../../cli/callers/api';
import { createAuthority } from '../../support/certificates';

it('verifies the certificate for the custom domain name, which SNI and Host have, wherever DNS leads', async () => {
  const authority = await createAuthority();
  const name = 'api.customer.invalid';
  const requests: unknown[] = [];
  const api = https.createServer(await authority.issue({ name }), ({ socket, headers }, response) => {
    requests.push([(socket as TLSSocket).servername, headers.host]);
    response.end();
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  const { port } = api.address() as AddressInfo;
  // As `NODE_EXTRA_CA_CERTS` does for a new process.
  const { createSecureContext } = tls;
  const trusting = jest.spyOn(tls, 'createSecureContext');
  trusting.mockImplementation((options) => createSecureContext({ ca: authority.cert, ...options }));
  const call = (host: string, byDns = false) => {
    const output = () => `https://${host}:${port}`;
    const target = { output, optionalOutput: () => '127.0.0.1', local: false };
    return callApi(target as never, { method: 'GET', path: '/' }, new AbortController().signal, { byDns });
  };
  try {
    expect(await call(name)).toMatchObject({ status: 200 });
    await expect(call('api.other.invalid')).rejects.toThrow(
      "does not match certificate's altnames: Host: api.other.invalid.",
    );
    await expect(call(name, true)).rejects.toThrow('getaddrinfo');
    expect(requests).toEqual([[name, `${name}:${port}`]]);
  } finally {
    trusting.mockRestore();
    api.closeAllConnections();
    api.close();
  }
});
