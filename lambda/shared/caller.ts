import { isId } from './ids';

/** The kinds of identity that call the API. */
const callerKinds = ['CustomerEmployee', 'EndUser', 'ServiceAccount'] as const;
export type CallerKind = (typeof callerKinds)[number];

/** Who calls, as the access token says. */
export interface Caller {
  /** `us-…` or `sa-…`. */
  readonly identityId: string;
  /** `or-…`. */
  readonly organizationId: string;
  readonly kind: CallerKind;
}

/** Reads a caller from a token's claims or from what the authorizer made of them; undefined when it is none. */
export function readCaller(source: Readonly<Record<string, unknown>>): Caller | undefined {
  const { sub, org, kind } = source;
  if (typeof sub !== 'string' || !isId(sub, 'us', 'sa')) return undefined;
  if (typeof org !== 'string' || !isId(org, 'or')) return undefined;
  const known = callerKinds.find((candidate) => candidate === kind);
  return known && { identityId: sub, organizationId: org, kind: known };
}
