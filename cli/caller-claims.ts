import { runOperation } from './operations-function';
import type { Target } from './target';
import type { Terminal } from './terminal';

/** The caller's claims in a token. */
export interface CallerClaims {
  readonly sub: string;
  readonly org: string;
  readonly kind: string;
}

/** Looks a caller up in its region. A deactivated one gets tokens, too, with a warning: the API refuses them. */
export async function readCallerClaims(
  target: Target,
  identityId: string,
  terminal: Terminal,
): Promise<CallerClaims> {
  const { organizationId, kind, active } = await runOperation(target, 'describe-identity', { identityId });
  if (!active) terminal.note(`warning: ${identityId} is deactivated; the API will refuse it.`);
  return { sub: identityId, org: organizationId, kind };
}
