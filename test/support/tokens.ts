import { generateKeyPairSync, sign } from 'node:crypto';
import { toJwk } from '../../lambda/export-jwks/handler';
import { codeUnder, load } from './documents';
import type { Organization } from './organization';

type SigningKey = ReturnType<typeof createSigningKey>;

/** A signing key as in KMS, and its public key as a handler gets it. */
export function createSigningKey() {
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
  const all = { alg: 'ES256', kid: key.jwk.kid, typ: 'JWT', ...header };
  return signText(key, JSON.stringify(all), JSON.stringify(claims));
}

export const issuer = 'https://tokens.test.invalid';
export const caller = {
  identityId: 'us-aaaaa-bbbbb-cccccccccccccc',
  organizationId: 'or-aaaaa-bbbbb-cccccccccccccc',
  kind: 'CustomerEmployee',
} as const;
export const userGroupId = 'ug-aaaaa-bbbbb-cccccccccccccc';

export const seconds = () => Math.floor(Date.now() / 1000);

type Claims = Readonly<Record<'accessToken' | 'userAction', Json>>;
const { deletionClaims } = load<{ deletionClaims(iss: string, by: object, group: string): Claims }>(
  codeUnder('docs/tokens.md', 'A deletion')[0] ?? '',
);

type Deleting = Pick<Organization, 'callerId' | 'organizationId' | 'userGroupId'>;

/** The claims of both tokens that docs/tokens.md makes for the deletion of an organization's group. */
export const documentedClaims = (iss: string, { callerId, organizationId, userGroupId }: Deleting) =>
  deletionClaims(iss, { sub: callerId, org: organizationId, kind: caller.kind }, userGroupId);

const claims = () => documentedClaims(issuer, { ...caller, callerId: caller.identityId, userGroupId });

export const accessTokenClaims = (overrides: Json = {}): Json => ({ ...claims().accessToken, ...overrides });

export function signUserAction(key: SigningKey, overrides: Json = {}, header: Json = {}): string {
  return signJwt(key, { ...claims().userAction, ...overrides }, { typ: 'user-action+jwt', ...header });
}
