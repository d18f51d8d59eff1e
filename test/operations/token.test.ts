import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { answerOk, identityId, keyArn, organizationId, startRegion, wallet } from './region';

let region: Awaited<ReturnType<typeof startRegion>>;
beforeAll(async () => {
  region = await startRegion();
});
beforeEach(() => region.recover());
afterAll(() => region.remove());

const token = (...args: string[]) =>
  wallet('token', '--outputs', region.outputs, '--caller', identityId, ...args);
const path = '/auth/user-groups/ug-aaaaa-bbbbb-cccccccccccccc';
const userAction = (...args: string[]) =>
  wallet('user-action', '--outputs', region.outputs, '--caller', identityId, '--path', path, ...args);

it('prints a bare access token with the documented claims, signed by the key of the outputs', async () => {
  const printed = await token();
  expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
  expect(printed.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}\n$/);

  const { header, claims } = open(printed.stdout, region.publicKey);
  expect(header).toEqual({ alg: 'ES256', typ: 'JWT', kid: thumbprint(region.publicKey) });
  expect(claims).toEqual({
    iss: 'https://eu.wallet-infrastructure.example',
    aud: 'wallet-api',
    sub: identityId,
    org: organizationId,
    kind: 'CustomerEmployee',
    iat: expect.any(Number),
    nbf: claims.iat,
    exp: claims.iat + 900,
  });
  expect(Math.abs(claims.iat - Date.now() / 1000)).toBeLessThan(5);
  expect(region.calls.find(({ action }) => action === 'kms.Sign')?.input).toMatchObject({
    KeyId: keyArn,
    SigningAlgorithm: 'ECDSA_SHA_256',
  });
});

it('prints a user action bound to caller, method, path and body, signed by the other key', async () => {
  const printed = await userAction('--method', 'delete', '--body', '{}');
  const { header, claims } = open(printed.stdout, region.publicKey);
  expect(header).toMatchObject({ alg: 'ES256', typ: 'user-action+jwt' });
  expect(claims).toEqual({
    iss: 'https://eu.wallet-infrastructure.example',
    aud: 'wallet-user-action',
    sub: identityId,
    org: organizationId,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    htm: 'DELETE',
    htp: path,
    bh: createHash('sha256').update('{}').digest('base64url'),
    iat: expect.any(Number),
    exp: claims.iat + 300,
  });
  expect(region.calls.find(({ action }) => action === 'kms.Sign')?.input).toMatchObject({
    KeyId: `${keyArn}-for-user-actions`,
  });
});

it('gives every user action an id of its own', async () => {
  const printed = await Promise.all([userAction('--method', 'DELETE'), userAction('--method', 'DELETE')]);
  const ids = printed.map(({ stdout }) => open(stdout, region.publicKey).claims.jti);
  expect(new Set(ids).size).toBe(2);
});

it('tells with --json when the token expires', async () => {
  const { stdout } = await token('--json', '--expires-in', '2m');
  const printed = JSON.parse(stdout);
  const { claims } = open(printed.token, region.publicKey);
  expect(claims.exp - claims.iat).toBe(120);
  expect(printed.expiresAt).toBe(new Date(claims.exp * 1000).toISOString());
});

it('warns of a deactivated caller, and prints its token all the same', async () => {
  region.answer({
    lambda: () => answerOk({ identityId, organizationId, kind: 'CustomerEmployee', active: false }),
  });
  const printed = await token();
  expect(printed.exitCode).toBe(0);
  expect(printed.stderr).toContain('is deactivated');
});

it('never prints a token whose signature the public key does not verify', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  region.answer({
    'kms.Sign': ({ Message = '' }) => ({
      body: { Signature: sign('sha256', Buffer.from(Message, 'base64'), other).toString('base64') },
    }),
  });
  expect(await token()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('does not verify with its own public key'),
  });
});

it('refuses a key that is not of curve P-256', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  region.answer({
    'kms.GetPublicKey': () => ({
      body: { PublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') },
    }),
  });
  expect(await token()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('not a key of curve P-256'),
  });
});

it('says which permission is missing when KMS refuses', async () => {
  region.answer({
    'kms.Sign': () => ({
      status: 400,
      body: { __type: 'AccessDeniedException', message: 'User is not authorized' },
    }),
  });
  expect(await token()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: kms:Sign was refused: User is not authorized.\nSign in as someone who has kms:Sign.\n',
  });
});

interface Claims {
  readonly [name: string]: unknown;
  readonly iat: number;
  readonly exp: number;
}

/** Opens a token as a receiver would: the signature first. */
function open(jwt: string, publicKey: KeyObject): { header: Record<string, unknown>; claims: Claims } {
  const [header = '', claims = '', signature = ''] = jwt.trim().split('.');
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const valid = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  expect(valid).toBe(true);
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  return { header: decode(header), claims: decode(claims) };
}

function thumbprint(publicKey: KeyObject): string {
  const { x, y } = publicKey.export({ format: 'jwk' });
  return createHash('sha256').update(`{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`).digest('base64url');
}
