import { connectDatabase } from '../database/connect';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { variables } from './environment';

export function createDependencies() {
  const { ENVIRONMENT } = readVariables(variables, process.env);
  return {
    ports: { database: connectDatabase(process.env), environment: ENVIRONMENT },
    log: createLog('run-operation'),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
