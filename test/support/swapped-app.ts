import { createApp } from '../../lib/app';
import type { Environment } from '../../lib/environment/environment';
import { environments } from '../../lib/environments';

/** The table with the other database access in each row: the one line that an operator would change. */
export const swappedEnvironments: readonly Environment[] = environments.map((environment) => ({
  ...environment,
  databaseAccess: environment.databaseAccess === 'direct' ? 'data-api' : 'direct',
}));

if (require.main === module)
  createApp({ environments: swappedEnvironments, validateTemplates: false }).synth();
