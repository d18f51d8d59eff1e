import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { joseSignature } from '../../../cli/callers/sign-jwt';
import { createAccessTokenVerifier } from '../../../lambda/authorize-request/handler';
import { toJwk } from '../../../lambda/export-jwks/handler';
import { createUserActionVerifier } from '../../../lambda/shared/user-action';
import { first } from '../../support/rows';
import { publicKey, useCommands } from '../every-command';
import { groupId, identityId, organizationId } from '../region';

const { run } = useCommands();
const path = `/auth/user-groups/${groupId}`;
const caller = { identityId, organizationId, kind: 'CustomerEmployee' } as const;
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
/** As the stack exports the public key to the functions. */
const keys = [toJwk(publicKey)];

it('token prints a bare token that the authorizer accepts, for 15 minutes', async () => {
  const { printed } = await run(['token', '--caller', identityId, '--allow-production']);
  expect(printed).toMatch(/^[\w-]+\.[\w-]+\.[\w-]{86}$/);
  const { iat } = claimsOf(printed);
  const value = { caller, notBefore: iat, expiresAt: iat + 900 };
  expect(createAccessTokenVerifier({ keys }, first.tokenIssuer, 900)(printed)).toEqual({ ok: true, value });
});

it('user-action prints a signature for one request that the deletion accepts, for five minutes', async () => {
  const request = ['--caller', identityId, '--method', 'delete', '--path', path, '--body', '{}'];
  const { printed } = await run(['user-action', ...request, '--allow-production']);
  const { iat, exp } = claimsOf(printed);
  expect(exp - iat).toBe(300);
  const signed = { caller, method: 'DELETE', path, bodies: ['{}'] };
  expect(createUserActionVerifier({ keys }, first.tokenIssuer)([printed], signed)).toMatchObject({
    ok: true,
  });
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
