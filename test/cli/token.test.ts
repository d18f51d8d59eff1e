import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { createAccessTokenVerifier } from '../../lambda/authorize-request/access-token';
import { createUserActionVerifier } from '../../lambda/delete-user-group/user-action';
import { type PublicJwk, toJwk } from '../../lambda/export-jwks/export-jwks';
import { localClient } from '../support/aws-client';
import { first } from '../support/rows';
import { answerOk, identityId, keyArns, organizationId, type Region, startRegion, wallet } from './region';

const issuer = first.tokenIssuer;
const caller = { identityId, organizationId, kind: 'CustomerEmployee' } as const;
const path = '/auth/user-groups/ug-aaaaa-bbbbb-cccccccccccccc';

let region: Region;
let keys: Record<keyof typeof keyArns, PublicJwk>;
beforeAll(async () => {
  region = await startRegion();
  keys = {
    accessToken: await readPublicKey(region, keyArns.accessToken),
    userAction: await readPublicKey(region, keyArns.userAction),
  };
});
beforeEach(() => region.recover());
afterAll(() => region.remove());

const token = (...args: string[]) =>
  wallet('token', '--outputs', region.outputs, '--caller', identityId, ...args);
const userAction = (...args: string[]) =>
  wallet('user-action', '--outputs', region.outputs, '--caller', identityId, '--path', path, ...args);

describe('token', () => {
  it('prints a bare token that the gateway authorizer accepts', async () => {
    const printed = await token();
    expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(printed.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}\n$/);

    const verify = createAccessTokenVerifier({ keys: [keys.accessToken] }, issuer, 900);
    const { claims } = decode(printed.stdout);
    expect(verify(printed.stdout.trim())).toEqual({
      ok: true,
      value: { caller, notBefore: claims.iat, expiresAt: claims.exp },
    });
  });

  it('has the documented claims, and lives 15 minutes', async () => {
    const { header, claims } = decode((await token()).stdout);
    expect(header).toEqual({ alg: 'ES256', typ: 'JWT', kid: keys.accessToken.kid });
    expect(claims).toEqual({
      iss: issuer,
      aud: 'wallet-api',
      sub: identityId,
      org: organizationId,
      kind: 'CustomerEmployee',
      iat: expect.any(Number),
      nbf: claims.iat,
      exp: claims.iat + 900,
    });
    expect(Math.abs(claims.iat - Date.now() / 1000)).toBeLessThan(5);
  });

  it('tells with --json when it expires, at a whole second', async () => {
    const printed = JSON.parse((await token('--json', '--expires-in', '120.9s')).stdout);
    const { claims } = decode(printed.token);
    expect(claims.exp - claims.iat).toBe(120);
    expect(printed.expiresAt).toBe(new Date(claims.exp * 1000).toISOString());
  });

  it('is printed for a deactivated caller too, with a warning', async () => {
    region.answer({ lambda: () => answerOk({ ...caller, active: false }) });
    const printed = await token();
    expect(printed.exitCode).toBe(0);
    expect(printed.stderr).toContain('is deactivated');
  });

  it('is refused when it would outlive what the environment accepts', async () => {
    const row: Partial<Record<'accessTokenMinutes', number>> = first;
    row.accessTokenMinutes = 10;
    const { exitCode, stderr } = await token().finally(() => delete row.accessTokenMinutes);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('600s or less') });
  });
});

describe('user-action', () => {
  it('prints a bare signature that the deletion accepts, with or without the empty object as body', async () => {
    const verify = createUserActionVerifier({ keys: [keys.userAction] }, issuer);
    const scope = { caller, method: 'DELETE', path } as const;
    for (const body of ['', '{}']) {
      const { stdout } = await userAction('--method', 'DELETE', '--body', body);
      expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}\n$/);
      expect(verify([stdout.trim()], scope)).toMatchObject({ ok: true });
    }
  });

  it('is bound to caller, method, path and body, and lives five minutes', async () => {
    const { header, claims } = decode((await userAction('--method', 'patch', '--body', '{"a":1}')).stdout);
    expect(header).toEqual({ alg: 'ES256', typ: 'user-action+jwt', kid: keys.userAction.kid });
    expect(claims).toEqual({
      iss: issuer,
      aud: 'wallet-user-action',
      sub: identityId,
      org: organizationId,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      htm: 'PATCH',
      htp: path,
      bh: createHash('sha256').update('{"a":1}').digest('base64url'),
      iat: expect.any(Number),
      exp: claims.iat + 300,
    });
  });

  it('has a new id each time', async () => {
    const printed = await Promise.all([userAction('--method', 'DELETE'), userAction('--method', 'DELETE')]);
    expect(new Set(printed.map(({ stdout }) => decode(stdout).claims.jti)).size).toBe(2);
  });
});

describe('nothing is printed', () => {
  const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  it.each<[string, (message: Buffer) => Buffer]>([
    ['of another key', (message) => sign('sha256', message, other)],
    ['that is not DER', () => Buffer.alloc(70, 0x30)],
    ['of no bytes', () => Buffer.alloc(0)],
  ])('for a signature %s', async (_, signatureOf) => {
    region.answer({
      'kms.Sign': ({ Message = '' }) => ({
        body: { Signature: signatureOf(Buffer.from(Message, 'base64')).toString('base64') },
      }),
    });
    expect(await token()).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('does not verify with its own public key'),
    });
  });

  it('when the key is not of curve P-256', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    region.answer({
      'kms.GetPublicKey': () => ({
        body: { PublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') },
      }),
    });
    expect(await token()).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('not a key of curve P-256'),
    });
  });

  it('when KMS refuses: the missing permission is named', async () => {
    region.answer({
      'kms.Sign': () => ({
        status: 400,
        body: { __type: 'AccessDeniedException', message: 'User is not authorized' },
      }),
    });
    expect(await token()).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'error: kms:Sign failed: AccessDeniedException: User is not authorized.\nSign in as someone who has kms:Sign.\n',
    });
  });
});

interface Claims {
  readonly [name: string]: unknown;
  readonly iat: number;
  readonly exp: number;
}

function decode(jwt: string): { header: Record<string, unknown>; claims: Claims } {
  const [header, claims] = jwt.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') };
}

/** The public half of a key, as the stack exports it to the functions. */
async function readPublicKey({ endpoint }: Region, keyArn: string): Promise<PublicJwk> {
  const client = new KMSClient(localClient(endpoint));
  const { PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: keyArn }));
  client.destroy();
  return toJwk(PublicKey);
}
