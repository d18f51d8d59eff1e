import { readTexts, runOperation } from './operations-function';
import type { Target } from './target';
import type { Terminal } from './terminal';

/** Whom a token is for, as its claims say. */
export interface CallerClaims {
  readonly sub: string;
  readonly org: string;
  readonly kind: string;
}

/** Looks a caller up in its region. One that is deactivated still gets tokens: the API refuses what they ask. */
export async function findCaller(
  target: Target,
  identityId: string,
  terminal: Terminal,
): Promise<CallerClaims> {
  const identity = await runOperation(target, 'describe-identity', { identityId });
  const { organizationId, kind } = readTexts(identity, ['organizationId', 'kind']);
  if (identity.active === false)
    terminal.note(`warning: ${identityId} is deactivated; the API will refuse it.`);
  return { sub: identityId, org: organizationId, kind };
}
