import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { KMS } from '@aws-sdk/client-kms';
import { callApi } from '../../../cli/callers/api';
import { callAws, clientSettings } from '../../../cli/shell/aws';
import { temporaryFolder } from '../../support/temporary-folder';
import { useAccount } from '../account';

const account = useAccount();
const folder = temporaryFolder();
beforeEach(() => {
  // For every client of this machine, and wrong: ours ignore it.
  jest.replaceProperty(process, 'env', { ...process.env, AWS_DEFAULTS_MODE: 'unknown' });
});
afterEach(() => jest.restoreAllMocks());

function useProfile(config: string, more: NodeJS.ProcessEnv = {}): void {
  const file = join(folder(), 'config');
  writeFileSync(file, `[profile own]\n${config}\n`);
  process.env = {
    ...process.env,
    HOME: folder(),
    AWS_PROFILE: 'own',
    AWS_CONFIG_FILE: file,
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_EC2_METADATA_DISABLED: 'true',
    ...more,
  };
}

const sign = (more: object = {}) =>
  callAws(new KMS({ ...clientSettings('eu-central-1'), ...more }), 'sign', { KeyId: 'a' } as never);

const denied = { name: 'AccessDeniedException', message: 'No.', $fault: 'client' };
const named = 'User: a is not authorized to perform: kms:GenerateDataKey on the resource';
const network = (code: string) => ({ name: 'Error', message: 'No.', code });
const anAddressEach = { ...network('ENOTFOUND'), message: '', errors: [{ message: 'a' }, { message: 'b' }] };
it.each<[object, said: string, remedy: string]>([
  [denied, 'AccessDeniedException: No', 'Sign in with a role that has kms:Sign.'],
  [
    { ...denied, message: named },
    `AccessDeniedException: ${named}`,
    'Sign in with a role that has kms:GenerateDataKey.',
  ],
  [{ name: 'CredentialsProviderError', message: 'None' }, 'None', 'Sign in to the account'],
  [network('SELF_SIGNED_CERT_IN_CHAIN'), 'No', 'NODE_EXTRA_CA_CERTS'],
  [network('ECONNREFUSED'), 'No', 'HTTPS_PROXY'],
  [anAddressEach, 'a, b', 'Check the'],
])('quotes AWS, with a remedy: %j', async (error, said, remedy) => {
  const refuse = () => Promise.reject(Object.assign(new Error(), error));
  const client = { config: { serviceId: 'KMS' }, sign: refuse };
  await expect(callAws(client as never, 'sign' as never, {} as never)).rejects.toMatchObject({
    message: `kms:Sign failed: ${said}.`,
    remedy: expect.stringContaining(remedy),
  });
});

it('says that a response is not from AWS', async () => {
  account().answer({ 'kms:*': () => ({ body: '<title>Sign in</title>' }) });
  await expect(sign()).rejects.toMatchObject({
    message: 'kms:Sign failed: a response with status 200 that is not from AWS.',
    remedy: expect.stringContaining('AWS_ENDPOINT_URL'),
  });
});

const role =
  'role_arn = arn:aws:iam::111122223333:role/wallet-emergency\nregion = eu-west-1\nsource_profile = key';
const sealed = `sh -c 'echo "The vault is sealed." >&2 && exit 3'`;
const key = '[profile key]\naws_access_key_id = a\naws_secret_access_key = a';
it.each<[config: string, message: string, remedy: string]>([
  [`credential_process = ${sealed}`, `Command failed: ${sealed} The vault is sealed.`, 'credential_process'],
  ['credential_process = echo none', 'Profile own credential_process returned invalid JSON.', 'credential_'],
  [
    `${role}\nmfa_serial = arn:aws:iam::111122223333:mfa/me\n${key}`,
    'Profile own requires multi-factor authentication, but no MFA code callback was provided.',
    'export-credentials',
  ],
])('of a profile with %j: quotes why it has no credentials, and helps', async (config, message, remedy) => {
  useProfile(config);
  const said = { message: `kms:Sign failed: ${message}`, remedy: expect.stringContaining(remedy) };
  await expect(sign()).rejects.toMatchObject(said);
});

describe('proxies', () => {
  const tunnels: (string | undefined)[] = [];
  // It refuses every tunnel.
  const proxy = createServer().on('connect', ({ url }, socket) => {
    tunnels.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  let HTTPS_PROXY = '';
  beforeAll(async () => {
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  afterAll(() => proxy.close());
  beforeEach(() => {
    tunnels.length = 0;
  });

  const inAws = 'https://kms.eu-central-1.amazonaws.com';
  // The API is called where the stack has it, whatever DNS says of its name.
  it.each<[endpoint: string, expected: readonly string[]]>([
    [inAws, ['kms.eu-central-1.amazonaws.com:443', 'target.invalid:443']],
    ['https://kms.invalid', []],
    ['https://localhost:9', []],
    ['https://[::1]:9', []],
    ['http://127.0.0.1:9', []],
  ])('calls to %s have the tunnels %j', async (endpoint, expected) => {
    const proxies = { HTTPS_PROXY, HTTP_PROXY: HTTPS_PROXY, ALL_PROXY: HTTPS_PROXY, no_proxy: '.invalid' };
    process.env = { ...process.env, ...proxies, AWS_ENDPOINT_URL: endpoint };
    await expect(sign()).rejects.toThrow('kms:Sign failed');
    const target = { output: () => endpoint, optionalOutput: () => 'target.invalid', local: false };
    const request = { method: 'GET', path: '/' } as const;
    await callApi(target as never, request, new AbortController().signal).catch(() => undefined);
    expect(tunnels).toEqual(expected);
  });

  // The client that refreshes a token ignores the proxy otherwise. The SDK makes those of its other sources in the same way.
  it('a refresh of the token of SSO has a tunnel, and what fails in it the remedy of the network', async () => {
    const sso = 'https://a.awsapps.com/start';
    const account = 'sso_account_id = 111122223333\nsso_role_name = Operator';
    const session = `[sso-session ${sso}]\nsso_start_url = ${sso}\nsso_region = eu-west-1`;
    useProfile(`sso_session = ${sso}\n${account}\n${session}`, { HTTPS_PROXY, AWS_ENDPOINT_URL: undefined });
    // What `aws sso login` leaves, long expired.
    const file = join(folder(), '.aws/sso/cache', `${createHash('sha1').update(sso).digest('hex')}.json`);
    const client = { clientId: 'a', clientSecret: 'a', refreshToken: 'a' };
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ ...client, accessToken: 'a', expiresAt: '2026-01-01T00:00:00Z' }));
    await expect(sign({ endpoint: 'https://kms.invalid' })).rejects.toMatchObject({
      message: expect.stringMatching(/^kms:Sign failed/),
      remedy: expect.stringContaining('the proxy'),
    });
    expect([...new Set(tunnels)]).toEqual(['oidc.eu-west-1.amazonaws.com:443']);
  });
});
