import { createApp } from '../../lib/app';
import type { Environment } from '../../lib/environment/environment';
import { oneOfEachAccess } from './rows';

/**
 * A row of each database access, with the other one, and deprecated: lines that an operator would change.
 */
export const swappedEnvironments: readonly Environment[] = oneOfEachAccess.map((environment) => ({
  ...environment,
  databaseAccess: environment.databaseAccess === 'direct' ? 'data-api' : 'direct',
  deprecation: { since: '2026-11-20' },
}));

if (require.main === module)
  createApp({ environments: swappedEnvironments, validateTemplates: false }).synth();
