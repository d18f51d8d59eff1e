import type { Environment } from '../../lib/environment/environment';
import { environments as table } from '../../lib/environments';

/**
 * The table with the other database access in each row: the one line that an operator would change.
 */
export const swappedEnvironments: readonly Environment[] = table.map((environment) => ({
  ...environment,
  databaseAccess: environment.databaseAccess === 'direct' ? 'data-api' : 'direct',
}));
