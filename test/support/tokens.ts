import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type PublicJwk, toJwk } from '../../lambda/export-jwks/handler';

/** A signing key as in KMS, and its public key as a handler gets it. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly jwk: PublicJwk;
}

export function createSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey, jwk: toJwk(publicKey.export({ format: 'der', type: 'spki' })) };
}

export type Json = Readonly<Record<string, unknown>>;

const encode = (value: string | Buffer) => Buffer.from(value).toString('base64url');

/** Signs header and claims, given as JSON text or bytes so that tests can send malformed JSON. */
export function signText(key: SigningKey, header: string, claims: string | Buffer): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

export function signJwt(key: SigningKey, claims: Json, header: Json = {}): string {
  return signText(
    key,
    JSON.stringify({ alg: 'ES256', kid: key.jwk.kid, typ: 'JWT', ...header }),
    JSON.stringify(claims),
  );
}

export const issuer = 'https://tokens.test.invalid';
export const caller = {
  identityId: 'us-aaaaa-bbbbb-cccccccccccccc',
  organizationId: 'or-aaaaa-bbbbb-cccccccccccccc',
  kind: 'CustomerEmployee',
} as const;

export const seconds = () => Math.floor(Date.now() / 1000);

export function accessTokenClaims(overrides: Json = {}): Json {
  return {
    iss: issuer,
    aud: 'wallet-api',
    sub: caller.identityId,
    org: caller.organizationId,
    kind: caller.kind,
    iat: seconds(),
    nbf: seconds(),
    exp: seconds() + 600,
    ...overrides,
  };
}

export const userGroupId = 'ug-aaaaa-bbbbb-cccccccccccccc';

export function userActionClaims(overrides: Json = {}): Json {
  return {
    iss: issuer,
    aud: 'wallet-user-action',
    sub: caller.identityId,
    org: caller.organizationId,
    jti: randomUUID(),
    htm: 'DELETE',
    htp: `/auth/user-groups/${userGroupId}`,
    bh: createHash('sha256').update('').digest('base64url'),
    iat: seconds(),
    exp: seconds() + 300,
    ...overrides,
  };
}

export function signUserAction(key: SigningKey, overrides: Json = {}, header: Json = {}): string {
  return signJwt(key, userActionClaims(overrides), { typ: 'user-action+jwt', ...header });
}
