import { createHash, type JsonWebKey } from 'node:crypto';
import { isId } from './ids';

const callerKinds = ['CustomerEmployee', 'EndUser', 'ServiceAccount'] as const;
type CallerKind = (typeof callerKinds)[number];

export interface Caller {
  /** `us-…` or `sa-…`. */
  readonly identityId: string;
  /** `or-…`. */
  readonly organizationId: string;
  readonly kind: CallerKind;
}

/** The operation that a caller's permissions must include. Bound, not written into SQL: the Data API reads `:name` as a parameter. */
export const deleteUserGroups = 'Auth:UserGroups:Delete';

/** Reads a caller from a token's claims or from the authorizer's context; undefined if invalid. */
export function readCaller(source: Readonly<Record<string, unknown>>): Caller | undefined {
  const { sub, org, kind } = source;
  if (typeof sub !== 'string' || !isId(sub, 'us', 'sa')) return undefined;
  if (typeof org !== 'string' || !isId(org, 'or')) return undefined;
  const known = callerKinds.find((candidate) => candidate === kind);
  return known && { identityId: sub, organizationId: org, kind: known };
}

/** The two kinds of JWT (ES256), each signed by a separate key. `type` is the header `typ` that we write. */
export const accessToken = { audience: 'wallet-api', type: 'JWT' } as const;
export const userAction = {
  audience: 'wallet-user-action',
  type: 'user-action+jwt',
  /** Seconds between `iat` and `exp`, at most. */
  lifetime: 300,
} as const;

/** A user action's `bh`: the base64url SHA-256 of the request's body. */
export const bodyHash = (body: string): string => createHash('sha256').update(body).digest('base64url');

/** A key's id, `kid`: SHA-256 of the required members in exactly this order (RFC 7638 section 3.2). */
export const thumbprint = ({ crv, kty, x, y }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
