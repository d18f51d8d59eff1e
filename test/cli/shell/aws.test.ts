import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KMS } from '@aws-sdk/client-kms';
import { callApi } from '../../../cli/callers/api';
import { callAws, clientSettings } from '../../../cli/shell/aws';
import { useAccount } from '../account';

const account = useAccount();

const denied = { name: 'AccessDeniedException', message: 'No.', $fault: 'client' };
const network = (code: string) => ({ name: 'Error', message: 'No.', code });
const anAddressEach = { ...network('ENOTFOUND'), message: '', errors: [{ message: 'a' }, { message: 'b' }] };
it.each<[object, said: string, remedy: string]>([
  [denied, 'AccessDeniedException: No', 'Sign in with a role that has kms:Sign.'],
  [
    { ...denied, message: 'User: a is not authorized to perform: kms:GenerateDataKey on the resource' },
    'AccessDeniedException: User: a is not authorized to perform: kms:GenerateDataKey on the resource',
    'Sign in with a role that has kms:GenerateDataKey.',
  ],
  [{ name: 'CredentialsProviderError', message: 'None' }, 'None', 'Sign in to the account'],
  [network('SELF_SIGNED_CERT_IN_CHAIN'), 'No', 'NODE_EXTRA_CA_CERTS'],
  [network('ECONNREFUSED'), 'No', 'HTTPS_PROXY'],
  [anAddressEach, 'a, b', 'Check the'],
])('quotes AWS, with a remedy: %j', async (error, said, remedy) => {
  const sign = () => Promise.reject(Object.assign(new Error(), error));
  const client = { config: { serviceId: 'KMS' }, sign };
  await expect(callAws(client as never, 'sign' as never, {} as never)).rejects.toMatchObject({
    message: `kms:Sign failed: ${said}.`,
    remedy: expect.stringContaining(remedy),
  });
});

it('says that a response is not from AWS', async () => {
  account().answer({ 'kms:*': () => ({ body: '<title>Sign in</title>' }) });
  const client = new KMS(clientSettings('eu-central-1'));
  await expect(callAws(client, 'sign', { KeyId: 'a' } as never)).rejects.toMatchObject({
    message: 'kms:Sign failed: a response with status 200 that is not from AWS.',
    remedy: expect.stringContaining('AWS_ENDPOINT_URL'),
  });
});

describe('proxies', () => {
  const tunnels: (string | undefined)[] = [];
  // It refuses every tunnel.
  const proxy = createServer().on('connect', ({ url }, socket) => {
    tunnels.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  let url: string;
  beforeAll(async () => {
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  afterAll(() => proxy.close());
  let env: NodeJS.ProcessEnv;
  beforeEach(() => {
    ({ env } = process);
    tunnels.length = 0;
  });
  afterEach(() => {
    process.env = env;
  });

  const inAws = 'https://kms.eu-central-1.amazonaws.com';
  it.each<[variables: Readonly<Record<string, string>>, endpoint: string, tunnel: string | undefined]>([
    [{ HTTPS_PROXY: 'URL' }, inAws, 'kms.eu-central-1.amazonaws.com:443'],
    [{ https_proxy: 'URL', NO_PROXY: 'example.com' }, inAws, 'kms.eu-central-1.amazonaws.com:443'],
    [{ ALL_PROXY: 'URL' }, inAws, 'kms.eu-central-1.amazonaws.com:443'],
    [{ HTTP_PROXY: 'URL' }, 'https://kms.invalid', undefined],
    [{ HTTPS_PROXY: 'URL', no_proxy: '.invalid' }, 'https://kms.invalid', undefined],
    [{ HTTPS_PROXY: 'URL' }, 'https://localhost:9', undefined],
    [{ HTTPS_PROXY: 'URL' }, 'https://127.0.0.1:9', undefined],
    [{ HTTPS_PROXY: 'URL' }, 'https://[::1]:9', undefined],
    [{ HTTPS_PROXY: 'URL', HTTP_PROXY: 'URL', ALL_PROXY: 'URL' }, 'http://127.0.0.1:9', undefined],
  ])('with %j, a call to %s has the tunnel %s', async (variables, endpoint, tunnel) => {
    const entries = Object.entries(variables).map(([name, value]) => [name, value.replace('URL', url)]);
    process.env = { ...env, ...Object.fromEntries(entries), AWS_ENDPOINT_URL: endpoint };
    const client = new KMS(clientSettings('eu-central-1'));
    await expect(callAws(client, 'sign', { KeyId: 'a' } as never)).rejects.toThrow('kms:Sign failed');
    const target = { output: () => endpoint, optionalOutput: () => undefined, local: false };
    const request = { method: 'GET', path: '/' } as const;
    await callApi(target as never, request, new AbortController().signal).catch(() => undefined);
    expect(tunnels).toEqual(tunnel ? [tunnel, tunnel] : []);
  });
});
