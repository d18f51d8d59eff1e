import type { Environment } from '../../lib/environment/environment';
import { environments as table } from '../../lib/environments';

/**
 * The table with each environment's way to its database changed for the other one: the very line that an operator would
 * change. Everything else stays.
 */
export const swappedEnvironments: readonly Environment[] = table.map((environment) => ({
  ...environment,
  databaseAccess: environment.databaseAccess === 'direct' ? 'data-api' : 'direct',
}));
