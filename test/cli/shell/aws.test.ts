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

/** Runs `work` with these variables. */
async function withVariables(variables: NodeJS.ProcessEnv, work: () => Promise<void>): Promise<void> {
  const { env } = process;
  process.env = { ...env, ...variables };
  try {
    await work();
  } finally {
    process.env = env;
  }
}

/** The variables for a profile, in a home of its own. */
function profile(config: string): NodeJS.ProcessEnv {
  const file = join(folder(), 'config');
  writeFileSync(file, `[profile own]\n${config}\n`);
  return {
    AWS_PROFILE: 'own',
    AWS_CONFIG_FILE: file,
    HOME: folder(),
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

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

describe('credentials', () => {
  const role = 'role_arn = arn:aws:iam::111122223333:role/wallet-emergency';
  const key = 'aws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = secret';
  const said = `kms:Sign failed:`;
  it.each<[config: string, message: string, remedy: string]>([
    [
      `credential_process = sh -c 'echo "The vault is sealed." >&2 && exit 3'`,
      `${said} Command failed: sh -c 'echo "The vault is sealed." >&2 && exit 3' The vault is sealed.`,
      'credential_process',
    ],
    [
      'credential_process = echo none',
      `${said} Profile own credential_process returned invalid JSON.`,
      'credential_process',
    ],
    [
      `${role}\nmfa_serial = arn:aws:iam::111122223333:mfa/me\nsource_profile = key\n[profile key]\n${key}`,
      `${said} Profile own requires multi-factor authentication, but no MFA code callback was provided.`,
      'export-credentials',
    ],
  ])('of a profile with %j: quotes why there are none, and helps', async (config, message, remedy) => {
    await withVariables(profile(config), async () => {
      const client = new KMS(clientSettings('eu-central-1'));
      await expect(callAws(client, 'sign', { KeyId: 'a' } as never)).rejects.toMatchObject({
        message,
        remedy: expect.stringContaining(remedy),
      });
    });
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

  const sso = 'https://a.awsapps.com/start';
  /** What `aws sso login` leaves, long expired. */
  function leaveExpiredToken(): void {
    const file = join(folder(), '.aws/sso/cache', `${createHash('sha1').update(sso).digest('hex')}.json`);
    mkdirSync(dirname(file), { recursive: true });
    const client = { clientId: 'a', clientSecret: 'a', refreshToken: 'a' };
    writeFileSync(file, JSON.stringify({ ...client, accessToken: 'a', expiresAt: '2026-01-01T00:00:00Z' }));
  }
  const role = 'role_arn = arn:aws:iam::111122223333:role/wallet-emergency\nregion = eu-west-1';
  // Clients of each of these ignore the proxy otherwise. The SDK makes those of its other sources in the same way.
  it.each<[string, config: string, tunnel: string]>([
    [
      'SSO whose token needs a refresh',
      `sso_session = ${sso}\nsso_account_id = 111122223333\nsso_role_name = Operator
[sso-session ${sso}]\nsso_start_url = ${sso}\nsso_region = eu-west-1`,
      'oidc.eu-west-1.amazonaws.com:443',
    ],
    [
      'a role whose source is a key',
      `${role}\nsource_profile = key\n[profile key]\naws_access_key_id = a\naws_secret_access_key = a`,
      'sts.eu-west-1.amazonaws.com:443',
    ],
  ])(
    'the credentials of %s have a tunnel, and what fails in it the remedy of the network',
    async (_, config, tunnel) => {
      leaveExpiredToken();
      await withVariables({ ...profile(config), HTTPS_PROXY: url, AWS_ENDPOINT_URL: undefined }, async () => {
        const client = new KMS({ ...clientSettings('eu-central-1'), endpoint: 'https://kms.invalid' });
        await expect(callAws(client, 'sign', { KeyId: 'a' } as never)).rejects.toMatchObject({
          message: expect.stringMatching(/^kms:Sign failed/),
          remedy: expect.stringContaining('the proxy'),
        });
      });
      expect([...new Set(tunnels)]).toEqual([tunnel]);
    },
  );
});
