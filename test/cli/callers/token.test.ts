import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { GetPublicKeyCommand } from '@aws-sdk/client-kms';
import { joseSignature } from '../../../cli/callers/sign-jwt';
import { createAccessTokenVerifier } from '../../../lambda/authorize-request/handler';
import { toJwk } from '../../../lambda/export-jwks/handler';
import { createUserActionVerifier } from '../../../lambda/shared/user-action';
import { first } from '../../support/rows';
import { groupId, identityId, keyArns, organizationId, result, useRegion } from '../region';

const region = useRegion();
const caller = { identityId, organizationId, kind: 'CustomerEmployee' } as const;
const known = { 'describe-identity': () => result({ ...caller, active: true }) };
beforeEach(() => region.answer(known));

const byCaller = ['--caller', identityId];
const path = `/auth/user-groups/${groupId}`;
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

/** The public key, as the stack exports it to the functions. */
async function publicKey(KeyId: string) {
  const { PublicKey = new Uint8Array() } = await region.kms.send(new GetPublicKeyCommand({ KeyId }));
  return toJwk(PublicKey);
}

it('token prints a bare token that the authorizer accepts, for 15 minutes', async () => {
  const { stdout } = await region.wallet('token', ...byCaller);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}\n$/);
  const { iat } = claimsOf(stdout);
  const keys = [await publicKey(keyArns.accessToken)];
  const verifyToken = createAccessTokenVerifier({ keys }, first.tokenIssuer, 900);
  const value = { caller, notBefore: iat, expiresAt: iat + 900 };
  expect(verifyToken(stdout.trim())).toEqual({ ok: true, value });
});

it('user-action prints a signature for one request that the deletion accepts, for five minutes', async () => {
  const request = ['--method', 'delete', '--path', path, '--body', '{}'];
  const { stdout } = await region.wallet('user-action', ...byCaller, ...request);
  const { iat, exp } = claimsOf(stdout);
  expect(exp - iat).toBe(300);
  const key = await publicKey(keyArns.userAction);
  const verifyAction = createUserActionVerifier({ keys: [key] }, first.tokenIssuer);
  const signed = { caller, method: 'DELETE', path, bodies: ['{}'] };
  expect(verifyAction([stdout.trim()], signed)).toMatchObject({ ok: true });
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
