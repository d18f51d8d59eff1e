import { Option } from 'commander';
import { CommandFailed } from './failure';
import type { Target } from './target';

export const allowProduction = () =>
  new Option('--allow-production', 'write to a deployed environment that has an SLA');

/**
 * Keeps a command from writing something new to production by mistake.
 *
 * @param consequence ends the message, such as `what "seed" makes stays there`
 * @throws CommandFailed for a deployed environment with a service level agreement, unless it is allowed
 */
export function requireProductionAllowed(
  { local, environment }: Target,
  { allowProduction }: { readonly allowProduction?: boolean },
  consequence: string,
): void {
  if (local || !environment.serviceLevelAgreement || allowProduction) return;
  throw new CommandFailed(
    `Environment ${environment.name} is in production: ${consequence}.`,
    'Add --allow-production if that is what you want.',
  );
}
