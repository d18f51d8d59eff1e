import { CommandFailed } from './failure';
import type { Target } from './target';

/**
 * Keeps a command from writing something new to production by mistake.
 *
 * @param what the sentence's end after "is in production:", such as `what "seed" makes stays there`
 * @throws CommandFailed for a deployed environment with a service level agreement, unless it is allowed
 */
export function requireProductionAllowed(
  { local, environment }: Target,
  { allowProduction }: { readonly allowProduction?: boolean },
  what: string,
): void {
  if (local || !environment.serviceLevelAgreement || allowProduction) return;
  throw new CommandFailed(
    `Environment ${environment.name} is in production: ${what}.`,
    'Add --allow-production if that is what you want.',
  );
}
