import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { joseSignature } from '../../cli/signing';
import { createAccessTokenVerifier } from '../../lambda/authorize-request/handler';
import { createUserActionVerifier } from '../../lambda/delete-user-group/delete-user-group';
import { toJwk } from '../../lambda/export-jwks/handler';
import { localClient } from '../support/aws-client';
import { startHttpServer } from '../support/http-server';
import { first } from '../support/rows';
import { groupId, identityId, keyArns, organizationId, result, useRegion } from './region';

const issuer = first.tokenIssuer;
const caller = { identityId, organizationId, kind: 'CustomerEmployee' } as const;
const path = `/auth/user-groups/${groupId}`;

const region = useRegion();
const known = (active = true) => region.answer({ 'describe-identity': () => result({ ...caller, active }) });
beforeEach(() => known());

const token = (...args: string[]) => region.wallet('token', '--caller', identityId, ...args);
const userAction = (...args: string[]) =>
  region.wallet('user-action', '--caller', identityId, '--path', path, ...args);

function decode(jwt: string) {
  const [header, claims] = jwt.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') };
}

/** The public key, as the stack exports it to the functions. */
async function publicKey(keyArn: string) {
  const client = new KMSClient(localClient(region.kmsUrl));
  const { PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: keyArn }));
  client.destroy();
  return toJwk(PublicKey);
}

describe('token', () => {
  it('prints a bare token that the authorizer accepts, for 15 minutes', async () => {
    const { exitCode, stdout, stderr } = await token();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}\n$/);
    const key = await publicKey(keyArns.accessToken);
    const { header, claims } = decode(stdout);
    expect(header).toEqual({ alg: 'ES256', typ: 'JWT', kid: key.kid });
    expect(claims).toEqual({
      ...{ iss: issuer, aud: 'wallet-api', sub: identityId, org: organizationId, kind: caller.kind },
      ...{ iat: expect.any(Number), nbf: claims.iat, exp: claims.iat + 900 },
    });
    expect(createAccessTokenVerifier({ keys: [key] }, issuer, 900)(stdout.trim())).toEqual({
      ok: true,
      value: { caller, notBefore: claims.iat, expiresAt: claims.exp },
    });
  });

  it('warns about a deactivated caller', async () => {
    known(false);
    expect(await token()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('is deactivated') });
  });

  it('is valid for as long as the environment accepts, and prints the expiry with --json', async () => {
    const row: Partial<Record<'accessTokenMinutes', number>> = first;
    row.accessTokenMinutes = 10;
    const { stdout } = await token('--json').finally(() => delete row.accessTokenMinutes);
    const printed = JSON.parse(stdout);
    const { claims } = decode(printed.token);
    expect(claims.exp - claims.iat).toBe(600);
    expect(printed.expiresAt).toBe(new Date(claims.exp * 1_000).toISOString());
  });
});

it('user-action prints a signature for one request that the deletion accepts, for five minutes', async () => {
  const key = await publicKey(keyArns.userAction);
  const { stdout } = await userAction('--method', 'delete', '--body', '{}');
  const { header, claims } = decode(stdout);
  expect(header).toEqual({ alg: 'ES256', typ: 'user-action+jwt', kid: key.kid });
  expect(claims).toEqual({
    ...{ iss: issuer, aud: 'wallet-user-action', sub: identityId, org: organizationId },
    ...{ jti: expect.stringMatching(/^[0-9a-f-]{36}$/), htm: 'DELETE', htp: path },
    bh: createHash('sha256').update('{}').digest('base64url'),
    ...{ iat: expect.any(Number), exp: claims.iat + 300 },
  });
  const verifyAction = createUserActionVerifier({ keys: [key] }, issuer);
  expect(verifyAction([stdout.trim()], caller, path)).toMatchObject({ ok: true });
});

it('delete-group sends one request with a token and a user action, and prints the response', async () => {
  const requests: IncomingMessage[] = [];
  const refused = { code: 'permission_missing', detail: 'The caller does not hold the permission.' };
  const responses: [number, object][] = [
    [200, {}],
    [403, refused],
  ];
  const api = await startHttpServer((request, response) => {
    const [status, body] = responses[requests.push(request) - 1] ?? [];
    response.writeHead(status ?? 500, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  region.changeOutputs({ ApiBaseUrl: api.url });
  const deleteGroup = ['delete-group', '--group', groupId, '--caller', identityId];
  expect(await region.wallet(...deleteGroup)).toEqual({ exitCode: 0, stdout: '200 {}\n', stderr: '' });
  expect(await region.wallet(...deleteGroup, '--json')).toEqual({
    exitCode: 1,
    stdout: `${JSON.stringify({ status: 403, body: refused })}\n`,
    stderr: `error: The API did not delete ${groupId}: permission_missing.\n`,
  });
  await api.stop();
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(2).fill(`DELETE ${path}`));
  const { authorization = '', 'x-svc-useraction': action } = requests[0]?.headers ?? {};
  expect(decode(authorization.slice('Bearer '.length)).claims).toMatchObject({
    sub: identityId,
    aud: 'wallet-api',
  });
  expect(decode(String(action)).claims).toMatchObject({ sub: identityId, htm: 'DELETE', htp: path });
});

it('converts DER signatures with integers of any length', () => {
  const { privateKey, publicKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // One in 128 signatures has an integer with a leading zero byte, so a thousand cover every relevant length.
  for (let message = 0; message < 1_000; message++) {
    const data = Buffer.from(String(message));
    const signature = joseSignature(sign('sha256', data, { key: privateKey, dsaEncoding: 'der' }));
    expect(verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  }
});
